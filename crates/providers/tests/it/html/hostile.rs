//! Untrusted text is escaped, fully visible, and has no effect.

use test_support::hostile::{TEXTS, tools};

use super::*;

/// The elements of a page.
const ELEMENTS: &str = "html head meta title link style script body a div header h1 p input kbd nav details summary small \
    ul li span b wbr main h2 article h3 h4 h5 h6 table thead tbody tr th td code pre figure figcaption dl dt dd mark \
    strong em del br hr blockquote ol";

const ATTRIBUTES: &str = "lang charset http-equiv content name rel href class id role type placeholder aria-label \
    aria-keyshortcuts autocomplete spellcheck tabindex title open data-name data-ns data-tags data-is scope colspan start";

#[test]
fn text_does_not_become_an_element_or_an_attribute() {
    let page = page_of(tools());
    let words = |list: &'static str| list.split_whitespace().collect::<Vec<_>>();
    for element in all(&page, "*") {
        assert!(words(ELEMENTS).contains(&element.value().name()), "{}", element.html());
        for (name, _) in element.value().attrs() {
            assert!(words(ATTRIBUTES).contains(&name), "{name} of {}", element.html());
        }
    }
    for (element, n) in [("script", 1), ("style", 1), ("meta", 5), ("h1", 1), ("article", TEXTS.len()), ("link", 1)] {
        assert_eq!(all(&page, element).len(), n, "{element}");
    }
}

#[test]
fn links_have_web_schemes_only() {
    let page = page_of(tools());
    let links = all(&page, "a[href]");
    let out = links.iter().filter(|link| !link.attr("href").unwrap().starts_with(['#', '?']));
    let mut n = 0;
    for link in out {
        let href = link.attr("href").unwrap();
        assert!(href.starts_with("https://example.org"), "{href}");
        assert_eq!(link.attr("rel"), Some("noopener noreferrer nofollow"));
        n += 1;
    }
    assert!(n > 0);
}

#[test]
fn hidden_characters_are_visible() {
    let text = text_of(tools());
    for c in
        ['\u{202e}', '\u{202c}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{2028}', '\u{2029}', '\u{e0048}', '\u{7}', '\0']
    {
        assert!(!text.contains(c), "U+{:04X} is in the page", u32::from(c));
    }
    let page = Html::parse_document(&text);
    let marks = all(&page, ".prose mark.hidden");
    let shown: Vec<String> = marks.iter().map(|mark| mark.text().collect()).collect();
    let shown: Vec<&str> = shown.iter().flat_map(|shown| shown.split(' ')).collect();
    for mark in ["U+202E", "U+200B", "U+2066", "U+FEFF", "U+2028", "U+E0048", "U+0007"] {
        assert!(shown.contains(&mark), "no {mark} in {shown:?}");
    }
    let turned = marks.iter().find(|mark| mark.text().any(|text| text == "U+202E")).unwrap();
    assert_eq!(turned.attr("title"), Some("it changes the direction of the text"));
}

/// A mark is longer than the characters that it replaces, so that each run has one mark and their number is limited.
#[test]
fn a_page_of_hidden_text_is_not_much_longer_than_the_text() {
    let texts = [
        "\u{200b}".repeat(100_000),
        "a\u{200b}".repeat(100_000),
        "\u{e0041}\u{202e}x".repeat(50_000),
        "\u{2028}\u{ad} ".repeat(50_000),
        "\u{7}b".repeat(50_000),
    ];
    for text in texts {
        let schema = serde_json::json!({
            "type": "object",
            "properties": { "a": { "type": "string", "description": text, "default": text } },
        });
        let tool = |text: &str, schema| {
            let tool = Tool::builder("t").description(text.to_owned()).title(text.to_owned()).input(schema);
            tool.examples([serde_json::json!({ "a": text })]).build().unwrap()
        };
        let empty = text_of([tool("", serde_json::json!({ "type": "object" }))]).len();
        let json = serde_json::to_string(&tool(&text, schema.clone())).unwrap().len();
        let page = text_of([tool(&text, schema)]).len();
        assert!(page < empty + 3 * json, "{page} bytes for {json} of {:?}", &text[..8]);
    }
}

#[test]
fn hidden_characters_in_json_are_escaped_as_json() {
    let page = page_of(tools());
    for (article, text) in all(&page, "article").iter().zip(sorted()) {
        let code = Selector::parse("figure code").unwrap();
        let example = article.select(&code).nth(1).unwrap().text().collect::<String>();
        let example: serde_json::Value = serde_json::from_str(&example).unwrap();
        assert_eq!(example, serde_json::json!({ text: text }));
    }
}

/// The texts in the order of their tools.
fn sorted() -> Vec<&'static str> {
    let mut texts = TEXTS.to_vec();
    texts.sort_unstable();
    texts
}

#[test]
fn attributes_omit_hidden_characters_only() {
    let page = page_of(tools());
    let titles = all(&page, "article > p.title");
    for (title, said) in titles.iter().zip(sorted()) {
        let shown: String = title.text().collect();
        let plain = |c: &char| c.is_ascii_graphic();
        let letters: String = shown.chars().filter(plain).collect();
        for word in said.split(|c: char| !c.is_ascii_graphic()) {
            assert!(letters.contains(word), "no {word:?} in {shown:?}");
        }
    }
    assert_eq!(titles.len(), TEXTS.len());
}
