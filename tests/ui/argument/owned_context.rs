use toolkit::{Context, tool};

/// Forecast.
#[tool]
fn forecast(city: String, ctx: Context) -> String {
    ctx.progress(1.0, None, "done");
    city
}

fn main() {}
