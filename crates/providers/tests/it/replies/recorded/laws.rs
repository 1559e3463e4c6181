//! The laws of `forms` for replies that were recorded complete and as a stream.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;

use super::exchange::stream;
use super::pairs::{Pair, for_each_pair, shape};
use crate::replies::forms::{empty_events, remove, shown};

/// Fields that servers leave out.
const OPTIONAL: [&str; 16] = [
    "id",
    "model",
    "role",
    "usage",
    "index",
    "output_index",
    "content_index",
    "contentBlockIndex",
    "item_id",
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "status",
    "usageMetadata",
    "created",
];

#[test]
fn an_empty_piece_changes_nothing_at_any_place_of_a_recorded_stream() {
    let (names, mut n_places, mut changes) = (ExportedNames::default(), 0, Vec::new());
    for_each_pair(|Pair { name, api, short_name, events, .. }| {
        let Ok(expected) = shown(*api, events, &names) else { return };
        for empty in [json!(null), json!(1)].iter().flat_map(|index| empty_events(short_name, index)) {
            // One pass with the event at each place after the first, since some streams have thousands of events.
            let (first, others) = events.split_at(1);
            let with_empty = others.iter().flat_map(|event| [empty.clone(), event.clone()]);
            let events: Vec<Value> = first.iter().cloned().chain(with_empty).collect();
            if !shown(*api, &events, &names).is_ok_and(|found| found == expected) {
                changes.push(format!("{name}: {empty}"));
            }
            n_places += events.len();
        }
    });
    assert!(changes.is_empty(), "{} change a reply:\n{}", changes.len(), changes.join("\n"));
    test_support::ran(n_places);
}

#[test]
fn a_recorded_reply_is_the_same_in_both_forms_without_an_optional_field() {
    let (names, mut n_pairs, mut others) = (ExportedNames::default(), 0, Vec::new());
    for_each_pair(|Pair { name, api, body, events, .. }| {
        if shape(&api.read(body, &names)) != shape(&stream(*api, events, &names)) {
            return;
        }
        for field in OPTIONAL {
            let (mut body, mut events) = (body.clone(), events.clone());
            remove(&mut body, field);
            events.iter_mut().for_each(|event| remove(event, field));
            let (whole, streamed) = (shape(&api.read(&body, &names)), shape(&stream(*api, &events, &names)));
            n_pairs += 1;
            if whole != streamed {
                others.push(format!("{name} without {field}:\n  {whole}\n  {streamed}"));
            }
        }
    });
    assert!(others.is_empty(), "{} of {n_pairs} differ:\n{}", others.len(), others.join("\n"));
    test_support::ran(n_pairs);
}
