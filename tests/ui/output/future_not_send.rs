use toolkit::tool;

/// Forecast.
#[tool]
async fn forecast(city: String) -> String {
    let city = std::rc::Rc::new(city);
    std::future::ready(()).await;
    city.to_string()
}

fn main() {}
