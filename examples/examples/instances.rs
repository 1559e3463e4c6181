//! A toolset: methods as tools of a value that the host owns, here of two values side by side.

use toolkit::{Catalog, Dispatcher, toolset};

struct Tracker {
    site: &'static str,
}

#[toolset(namespace = "tracker")]
impl Tracker {
    /// Returns the address of an issue.
    #[tool(read_only)]
    fn address(&self, issue: u32) -> String {
        format!("{}/issues/{issue}", self.site)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::builder(Catalog::linked()?)
        .instance("tracker_eu", Tracker { site: "https://eu.example.com" })
        .instance("tracker_us", Tracker { site: "https://us.example.com" })
        .build()?;
    let result = dispatcher.call_sync("tracker_us:address", r#"{"issue": 7}"#)?;
    assert_eq!(result.value(), "https://us.example.com/issues/7");
    Ok(())
}
