use toolkit::tool;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 { a + b }

async fn call(dispatcher: &toolkit::Dispatcher) {
    let sum: String = toolkit::handle!(add).call(dispatcher, (1, 2)).await.unwrap();
    let _ = toolkit::handle!(add).call(dispatcher, (1, "2")).await;
    let _ = (sum, toolkit::handle!(add, add));
}

fn main() {}
