//! Explanations of hits.

use toolkit::Tool;
use toolkit_search::{Field, Index, Match};

use super::index;

#[test]
fn the_reasons_add_up_to_the_score() {
    let index = index(&[
        ("mail:send_email", "Sends emails to people. Emailing many takes longer."),
        ("mail:list", "Lists the emails of a folder."),
        ("post:send", "Posts a letter."),
    ]);
    for query in ["send an email", "emails", "snd letters", "folders of mail"] {
        for hit in index.search(query, 10) {
            let explained = index.snapshot().explain(query, &hit.summary.id).unwrap();
            assert!((explained.score - hit.score).abs() < 1e-3, "{query}: {explained:?} {}", hit.score);
        }
    }
    assert!(index.snapshot().explain("letter", "mail:list").is_none());
    assert!(index.snapshot().explain("letter", "none").is_none());
}

#[test]
fn a_reason_contains_the_word_and_its_fields() {
    let index = index(&[("mail:send_email", "Sends emails."), ("post:deliver", "Delivers a letter.")]);
    let explained = index.snapshot().explain("email", "mail:send_email").unwrap();
    let of = |kind: Match| explained.reasons.iter().find(|reason| reason.kind == kind).unwrap();
    assert_eq!(of(Match::Word).fields.iter().collect::<Vec<_>>(), [(&Field::Name, &1)]);
    assert_eq!(of(Match::Stem).fields.iter().collect::<Vec<_>>(), [(&Field::Name, &1), (&Field::Lead, &1)]);
    assert!(of(Match::Name).score > 0.0 && of(Match::Name).score < 16.0);

    let guessed = index.snapshot().explain("delivr", "post:deliver").unwrap();
    assert_eq!(guessed.reasons[0].instead_of.as_deref(), Some("delivr"));
}

#[test]
fn highlights_are_the_ranges_of_the_words() {
    let tool = Tool::builder("sendEmail").description("Sends E-mails to people.").build().unwrap();
    let index = Index::from_tools(&[tool]);
    let shown = |query: &str, text: &str| {
        let mut shown = text.to_owned();
        for place in index.snapshot().highlights(query, text).into_iter().rev() {
            shown = format!("{}[{}]{}", &shown[..place.start], &shown[place.clone()], &shown[place.end..]);
        }
        shown
    };
    assert_eq!(shown("send an email", "sendEmail"), "[send][Email]");
    assert_eq!(shown("sending", "Sends E-mails, “sent”."), "[Sends] E-mails, “sent”.");
    assert_eq!(shown("nothing", "Sends"), "Sends");
}
