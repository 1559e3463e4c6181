//! Code mode: a program that calls the tools of the catalog, in a process of its own.

use toolkit::{Catalog, Dispatcher};
use toolkit_code::sandbox::Process;
use toolkit_code::{CodeMode, Limits, Program};
use toolkit_examples::Root;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The process of a program is this one, started again.
    toolkit_code::worker::init();
    run()
}

#[tokio::main]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let root = Root::read_only(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let dispatcher = Dispatcher::builder(Catalog::linked()?).state(root).build()?;
    let code = CodeMode::new(dispatcher, Process::new()).limits(Limits::default().calls(200));

    let program = include_str!("../programs/longest_files.js");
    let execution = code.run(Program::javascript(program)).await?;
    if let Some(failure) = execution.failure() {
        return Err(failure.clone().into());
    }
    print!("{}", execution.stdout());
    println!("{:#}", execution.value());
    println!("{} calls, of which a model reads none", execution.calls.len());
    assert_eq!(execution.value().as_array().map(Vec::len), Some(3));
    Ok(())
}
