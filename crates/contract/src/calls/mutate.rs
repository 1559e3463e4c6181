//! Arguments that are one change away from valid ones.

use serde_json::{Value, json};
use toolkit_schema::walk;

use super::generate::Generator;

/// Changes one part of the arguments.
pub(super) fn mutate(arguments: &mut Value, generator: &mut Generator<'_>) {
    let nth = generator.below(walk::size(arguments).max(1));
    let mut n_before = 0;
    if let Some(part) = nth_part(arguments, nth, &mut n_before) {
        change(part, generator);
    }
}

/// Returns a part of a value by its position, each part before those inside it.
fn nth_part<'v>(value: &'v mut Value, nth: usize, n_before: &mut usize) -> Option<&'v mut Value> {
    if *n_before == nth {
        return Some(value);
    }
    *n_before += 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_part(item, nth, n_before)),
        Value::Object(members) => members.values_mut().find_map(|member| nth_part(member, nth, n_before)),
        _ => None,
    }
}

fn change(part: &mut Value, generator: &mut Generator<'_>) {
    match part {
        // The arguments themselves stay an object more often than not.
        Value::Object(members) if !generator.one_in(4) => match generator.below(members.len() + 1) {
            0 => drop(members.insert("unknown".to_owned(), generator.anything())),
            nth => {
                if let Some(name) = members.keys().nth(nth - 1).cloned() {
                    members.remove(&name);
                }
            }
        },
        Value::Array(items) if !generator.one_in(3) => match items.pop() {
            Some(last) if generator.one_in(2) => items.extend([last.clone(), last]),
            Some(_) => {}
            None => items.push(generator.anything()),
        },
        // No integer beyond 64 bits: a schema without bounds is that of a type with 64 bits.
        Value::Number(number) if !generator.one_in(3) => {
            let by = generator.draw(-1..=1_i64);
            let sum = number.as_i64().and_then(|number| number.checked_add(by));
            *part = match sum {
                Some(sum) if by != 0 => sum.into(),
                Some(sum) if sum.unsigned_abs() < 1 << 52 => json!(sum as f64 + 0.5),
                _ => json!(number.to_string()),
            };
        }
        Value::String(text) if !generator.one_in(3) => match generator.below(3) {
            0 => text.clear(),
            1 => text.push('😀'),
            _ => *text = text.to_uppercase(),
        },
        _ => *part = generator.anything(),
    }
}
