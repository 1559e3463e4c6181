//! Pages of `tools/list`.

use std::num::NonZeroUsize;

use toolkit::mcp::ToolList;

use super::*;

fn pages_of(list: &ToolList, most: usize) -> Vec<Value> {
    let most = NonZeroUsize::new(most).unwrap();
    let mut pages: Vec<Value> = vec![serde_json::from_str(&list.page(None, most).unwrap()).unwrap()];
    while let Some(cursor) = pages.last().unwrap().get("nextCursor") {
        let page = list.page(cursor.as_str(), most).expect("the cursor was given out");
        pages.push(serde_json::from_str(&page).unwrap());
    }
    pages
}

#[test]
fn a_cached_list_has_the_same_bytes() {
    for revision in REVISIONS {
        for naming in [Naming::Name, Naming::NamespaceName] {
            let list = ToolList::new(&everything(), revision, naming).unwrap();
            let anew = list_tools(&everything(), revision, naming).unwrap().to_string();
            assert_eq!(list.to_json(), anew);
            assert_eq!(list.page(None, NonZeroUsize::MAX).unwrap(), anew);
        }
    }
}

#[test]
fn the_pages_contain_every_tool_once_and_match_the_official_schema() {
    for revision in REVISIONS {
        let list = ToolList::new(&everything(), revision, Naming::Name).unwrap();
        let official = official(revision, "ListToolsResult");
        for most in [1, 2, 7, list.len() - 1, list.len(), list.len() + 1] {
            let pages = pages_of(&list, most);
            assert_eq!(pages.len(), list.len().div_ceil(most));
            let tools: Vec<&Value> = pages.iter().flat_map(|page| page["tools"].as_array().unwrap()).collect();
            let all = list_tools(&everything(), revision, Naming::Name).unwrap();
            assert_eq!(tools, all["tools"].as_array().unwrap().iter().collect::<Vec<_>>());
            let Some(official) = &official else { continue };
            pages.iter().for_each(|page| assert_fits(official, page));
            ran(pages.len());
        }
    }
}

#[test]
fn an_unknown_cursor_is_rejected() {
    let list = ToolList::new(&everything(), Revision::V2026_07_28, Naming::Name).unwrap();
    let end = list.len().to_string();
    for cursor in ["", "0", "-1", "1.5", "x", "99999999999999999999", &end] {
        assert_eq!(list.page(Some(cursor), NonZeroUsize::MIN), None, "{cursor:?}");
    }
    let none = ToolList::new(&Catalog::new([]).unwrap(), Revision::V2026_07_28, Naming::Name).unwrap();
    assert!(none.is_empty() && none.page(Some("0"), NonZeroUsize::MIN).is_none());
    let page: Value = serde_json::from_str(&none.page(None, NonZeroUsize::MIN).unwrap()).unwrap();
    assert_eq!((&page["tools"], page.get("nextCursor")), (&json!([]), None));
}
