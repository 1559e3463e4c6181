//! Random bytes as the records of tools.
//!
//! No document causes a panic of a reader. A document that was read is written field by field unchanged, and reads the
//! same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit::{Manifest, Tool};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(tool) = Tool::from_json(bytes) {
        let written = tool.to_json();
        let again = Tool::from_json(&written).expect("what was written is a tool");
        assert_eq!(again.to_json(), written);
        let carried = Tool::from_mcp_json(tool.to_mcp_json_with_record());
        // A record can carry only a valid id; invalid ids are reported by the check.
        assert!(carried.is_ok() || tool.id().to_string().parse::<toolkit::ToolId>().is_err());
    }
    if let Ok(tool) = Tool::from_mcp_json(bytes) {
        let read: Value = serde_json::from_slice(bytes).expect("it was read");
        let (Value::Object(read), Value::Object(written)) = (read, tool.to_mcp_json()) else {
            panic!("a tool is an object");
        };
        let lost: Vec<&String> = read.keys().filter(|name| !written.contains_key(*name)).collect();
        assert!(lost.is_empty() || read.contains_key("_meta"), "{lost:?} got lost");
    }
    if let Ok(manifest) = Manifest::from_mcp_json(bytes) {
        for listing in manifest.listings() {
            assert_eq!(listing.is_sound(), listing.diagnostics().is_empty());
            assert!(listing.to_string().len() < 256 << 10, "{} bytes of problems", listing.to_string().len());
        }
        let again = Manifest::from_json(manifest.to_json()).expect("what was written is a manifest");
        assert_eq!(again.to_json(), manifest.to_json());
    }
});
