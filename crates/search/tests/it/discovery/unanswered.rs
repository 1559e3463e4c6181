//! Questions that no tool answers.

use serde_json::Value;
use test_support::{ran, real_servers};
use toolkit_search::{Index, Query, Ranking};

use super::{ids, index, tool};

/// The tools of a small server for web pages.
const WEB: [(&str, &str); 4] = [
    ("fetch_page", "Fetches a web page. Sends the request with the headers of a browser."),
    ("extract_links", "Extracts all links of a page. Finds relative links, and mailto links with an email address."),
    ("find_images", "Finds the images of a page, and returns their addresses and sizes."),
    ("get_sitemap", "Gets the sitemap of a site."),
];

#[test]
fn questions_without_an_answer_find_nothing_in_real_servers() {
    let cases: Value = serde_json::from_str(include_str!("../../cases/unanswered.json")).unwrap();
    let real = real_servers();
    if real.is_empty() {
        return;
    }
    let (mut n_questions, mut answered) = (0, Vec::new());
    for server in cases["servers"].as_object().unwrap().keys() {
        // Two files may have the same name.
        let of_server = real.iter().filter(|(name, _)| name == server);
        let (_, tools) = of_server.max_by_key(|(_, tools)| tools.len()).expect("the server is among the shared data");
        let index = Index::from_tools(tools);
        for question in cases["servers"][server].as_array().unwrap() {
            let question = question.as_str().unwrap();
            n_questions += 1;
            let hits = index.search(question, 10);
            answered.extend(hits.first().map(|hit| format!("{server}: {question}: {}", hit.summary.id)));
        }
    }
    ran(n_questions);
    assert_eq!(n_questions, 100);
    assert!(answered.len() <= 10, "{} of 100 questions find something: {answered:#?}", answered.len());
}

#[test]
fn a_match_of_common_words_only_is_not_an_answer() {
    let index = index(&WEB);
    for question in
        ["find a recipe for lentil soup", "get the latest exchange rate of the yen", "return my library books"]
    {
        assert!(index.search(question, 5).is_empty(), "{question}");
        assert!(index.page(question, 5, None).unwrap().items.is_empty(), "{question}");
    }
    assert_eq!(ids(&index.search("find the images of a page", 5))[0], "find_images");
}

#[test]
fn a_question_of_common_words_only_is_about_them() {
    let tools = [("update", "Updates."), ("list", "Lists."), ("weather", "Says what comes.")];
    assert_eq!(ids(&index(&tools).search("update", 5)), ["update"]);
    assert_eq!(ids(&index(&tools).search("get a list", 5)), ["list"]);
}

#[test]
fn a_match_in_a_tiny_catalog_is_an_answer() {
    for question in ["email", "send an email", "send", "address of the email"] {
        let index = index(&[("send", "Sends an email to an address.")]);
        assert_eq!(ids(&index.search(question, 5)), ["send"], "{question}");
    }
}

#[test]
fn the_subject_of_all_tools_is_enough_in_a_small_catalog() {
    let names = ["read_file", "write_file", "move_file", "list_files", "delete_file"];
    let index = index(&names.map(|name| (name, "Works on a file on the disk of this computer.")));
    assert_eq!(ids(&index.search("list the files of my holiday in Norway", 5))[0], "list_files");
    assert!(index.search("list the hotels of Norway", 5).is_empty());
}

#[test]
fn a_word_of_a_long_text_is_an_answer() {
    let long = format!("Fetches a page. {} Follows at most ten redirects.", "It reads lines of text. ".repeat(100));
    let names: Vec<String> = (0..50).map(|n| format!("tool_{n}")).collect();
    let tools = names.iter().map(|name| (&**name, "Reads some file.")).chain([("fetch", &*long)]);
    let index = index(&tools.collect::<Vec<_>>());
    assert_eq!(ids(&index.search("redirects", 5)), ["fetch"]);
    assert_eq!(ids(&index.search("find the redirects", 5)), ["fetch"]);
    assert!(index.search("redirects of rivers", 5).is_empty());
}

#[test]
fn any_limit_has_the_same_first_tools() {
    let index = index(&WEB);
    for question in ["find something about soup and images", "links", "get my sizes", "get soup"] {
        let all = index.search(question, 100);
        for limit in 1..4 {
            assert_eq!(index.search(question, limit), all[..limit.min(all.len())], "{question}");
        }
    }
}

#[test]
fn filters_apply_before_the_threshold() {
    let tools = [tool("mail:send", "Sends an email."), tool("web:send_request", "Sends a request to a site.")];
    let index = Index::from_tools(&tools);
    assert_eq!(ids(&index.search(Query::new("email").namespace("mail"), 5)), ["mail:send"]);
    assert!(index.search(Query::new("email").namespace("web"), 5).is_empty());
}

#[test]
fn a_threshold_of_zero_returns_every_match() {
    let tools = WEB.map(|(id, description)| tool(id, description));
    let mut ranking = Ranking::default();
    ranking.threshold = 0.0;
    let index = Index::with_ranking(&tools, ranking);
    assert_eq!(ids(&index.search("find a recipe for lentil soup", 1)), ["find_images"]);
}
