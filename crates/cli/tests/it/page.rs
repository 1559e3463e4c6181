//! `export --format html`.

use super::tools;

#[test]
fn the_page_has_every_tool_and_its_command_line() {
    let page = tools(&["export", "--format", "html"]).exits(0).out;
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert_eq!(page.matches("<article ").count(), 20);
    assert!(page.contains("fixture_tools call weather:forecast &#39;{"), "no call of the forecast");
    assert_eq!(page, tools(&["export", "--format", "html"]).exits(0).out);
}
