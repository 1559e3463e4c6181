use std::rc::Rc;
use toolkit::tool;

/// Forecast.
#[tool]
fn forecast(city: Box<dyn Fn()>, days: Rc<u8>) -> u8 {
    city();
    *days
}

fn main() {}
