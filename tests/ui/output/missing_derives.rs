use toolkit::tool;

struct Forecast;

/// Forecast.
#[tool]
fn plain() -> Forecast { Forecast }

/// Forecast.
#[tool]
fn fallible() -> Result<Forecast, toolkit::ToolError> { Ok(Forecast) }

#[derive(serde::Serialize)]
struct Half;

/// Forecast.
#[tool]
fn half() -> Half { Half }

fn main() {}
