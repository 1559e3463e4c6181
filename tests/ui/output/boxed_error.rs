use toolkit::tool;

/// Forecast.
#[tool]
fn forecast() -> Result<u8, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {}
