//! Random text as the name of a tool.
//!
//! A name that parses is printed unchanged, and a name that does not parse finds no tool.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use toolkit::call::ErrorKind;
use toolkit::{Catalog, ToolId};

static CATALOG: LazyLock<Catalog> = LazyLock::new(toolkit_fuzz::tools);

fuzz_target!(|text: &str| {
    let parsed = text.parse::<ToolId>();
    if let Ok(id) = &parsed {
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse::<ToolId>().as_ref(), Ok(id));
        assert_eq!(id.cmp(id), std::cmp::Ordering::Equal);
        let unversioned = id.unversioned();
        assert_eq!(unversioned.to_string().parse(), Ok(unversioned));
    }
    match CATALOG.resolve(text) {
        Ok(tool) => assert!(parsed.is_ok() && CATALOG.get(text).is_some(), "{text:?} finds {}", tool.id()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::UnknownTool);
            assert!(error.message().len() < 4096, "{} bytes of error", error.message().len());
            assert!(!error.message().contains(char::is_control), "{error}");
        }
    }
});
