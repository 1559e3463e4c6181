use toolkit::tool;

/// Renders.
#[tool(task = "always")]
fn render(scene: String) -> String { scene }

/// Renders.
#[tool(task = true)]
fn draw(scene: String) -> String { scene }

/// Renders.
#[tool(task("required"))]
fn paint(scene: String) -> String { scene }

fn main() {}
