use toolkit::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    city: String,
}

/// Forecast.
#[tool]
fn forecast(#[serde(rename = "where")] query: Query) -> String {
    query.city
}

/// Forecast, of one argument that is an object.
#[tool]
fn nested(
    #[arg]
    #[serde(rename = "where")]
    query: Query,
) -> String {
    query.city
}

fn main() {}
