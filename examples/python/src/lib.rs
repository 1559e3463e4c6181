//! A catalog of tools in a dynamic library, for programs in any language that calls functions of C.
//!
//! `host.py` loads it with `ctypes`. Texts are UTF-8 and end with a zero byte; those that a function returns are given
//! back to [`toolkit_free`].

use std::ffi::{CStr, CString, c_char};
use std::sync::LazyLock;

use serde_json::json;
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Catalog, Dispatcher};

/// All tools, under the names of `tools/list`.
static DISPATCHER: LazyLock<Dispatcher> = LazyLock::new(|| {
    let catalog = Catalog::linked().expect("the linked tools are valid");
    let names = ExportedNames::from(&catalog.listed(Naming::default()).expect("the names are unique"));
    Dispatcher::new(catalog).expect("no tool needs a state").with_names(names)
});

/// Returns the tools as JSON, in the form of `tools/list` of MCP.
#[unsafe(no_mangle)]
pub extern "C" fn toolkit_list() -> *mut c_char {
    let list = list_tools(DISPATCHER.catalog(), Revision::default(), Naming::default()).expect("the names are unique");
    text(list.to_string())
}

/// Calls a tool by its name with JSON arguments, and returns `{"result": …}` or `{"error": …}`.
///
/// A panic of the tool is an error of that call.
///
/// # Safety
///
/// Both pointers are texts that end with a zero byte, and are valid during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolkit_call(name: *const c_char, arguments: *const c_char) -> *mut c_char {
    // SAFETY: the caller passes texts that end with a zero byte.
    let (name, arguments) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(arguments)) };
    let answer = match (name.to_str(), arguments.to_str()) {
        (Ok(name), Ok(arguments)) => match DISPATCHER.call_sync(name, arguments) {
            Ok(result) => json!({ "result": result.value() }),
            Err(error) => json!({ "error": error.to_string() }),
        },
        _ => json!({ "error": "the name and the arguments must be UTF-8" }),
    };
    text(answer.to_string())
}

/// Releases a text that another function of this library returned.
///
/// # Safety
///
/// The pointer was returned by this library, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolkit_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: `text` created the pointer, and gave it to the caller.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Gives a text to the caller. JSON has no zero bytes.
fn text(json: String) -> *mut c_char {
    CString::new(json).map_or(std::ptr::null_mut(), CString::into_raw)
}

mod tools {
    use toolkit::tool;

    /// Returns the number of words in a text.
    #[tool(namespace = "text", read_only)]
    fn count_words(text: String) -> usize {
        text.split_whitespace().count()
    }

    /// Divides one integer by another.
    #[tool(namespace = "math", read_only)]
    fn divide(dividend: i64, divisor: i64) -> Result<i64, String> {
        dividend.checked_div(divisor).ok_or_else(|| "the divisor must not be 0".to_owned())
    }
}
