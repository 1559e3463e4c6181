use toolkit::tool;

/// Returns the sales.
#[tool(ui = "https://example.com/chart.html")]
fn over_https() -> u64 { 3 }

/// Returns the sales.
#[tool(ui = "ui://")]
fn empty() -> u64 { 3 }

/// Returns the sales.
#[tool(ui = "ui://sales/\"chart\".html")]
fn quoted() -> u64 { 3 }

/// Returns the sales.
#[tool(ui)]
fn flag() -> u64 { 3 }

/// Returns the sales.
#[tool(ui = "ui://sales/chart.html", meta = r#"{"ui": {}}"#)]
fn twice() -> u64 { 3 }

fn main() {}

const META: &str = "{}";

/// Shows.
#[tool(ui = "ui://shop/list.html", meta = META)]
fn constant() {}
