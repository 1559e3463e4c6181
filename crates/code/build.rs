//! Compiles the prelude of programs to bytecode, since reading its text takes longer than most programs do.

use std::error::Error;

#[cfg(feature = "javascript")]
fn main() -> Result<(), Box<dyn Error>> {
    use std::path::Path;
    use std::{env, fs};

    use rquickjs::{Context, Module, Runtime, WriteOptions, WriteOptionsEndianness};

    const PRELUDE: &str = "src/engine/javascript/prelude.js";

    println!("cargo::rerun-if-changed={PRELUDE}");
    let endianness = match &*env::var("CARGO_CFG_TARGET_ENDIAN")? {
        "big" => WriteOptionsEndianness::Big,
        _ => WriteOptionsEndianness::Little,
    };
    // Functions of the prelude have no text that a program could read.
    let options = WriteOptions { endianness, strip_source: true, ..WriteOptions::default() };
    let text = fs::read_to_string(PRELUDE)?;
    let bytecode = Context::full(&Runtime::new()?)?
        .with(|ctx| Module::declare(ctx, "prelude.js", text).and_then(|module| module.write(options)))?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("prelude.bin"), bytecode)?;
    Ok(())
}

#[cfg(not(feature = "javascript"))]
fn main() -> Result<(), Box<dyn Error>> {
    Ok(())
}
