//! Calls one of the tools: `toolkit-examples math:add '{"a": 1, "b": 2}'`.

use std::process::ExitCode;

use toolkit::{Catalog, Dispatcher};
use toolkit_examples::Root;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let catalog = Catalog::linked()?;
    let mut given = std::env::args().skip(1);
    let Some(name) = given.next() else {
        for tool in catalog.latest() {
            println!("{:24} {}", tool.id().unversioned().to_string(), tool.summary());
        }
        return Ok(ExitCode::SUCCESS);
    };
    let dispatcher = Dispatcher::builder(catalog).state(Root::read_only(".")?).build()?;
    let arguments = given.next().unwrap_or_else(|| "{}".to_owned());
    match dispatcher.call(&name, arguments).await {
        Ok(result) => println!("{}", serde_json::to_string_pretty(&result.content())?),
        Err(error) => {
            eprintln!("{error}");
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}
