//! Simpler forms of arguments, the simplest first.
//!
//! They are tried on the arguments themselves and not by the strategies that made them: kept cases have none, and the
//! binary search of a strategy takes 60 calls for one number, each of which may hang and leave a thread behind.

use serde_json::{Map, Number, Value, json};

/// Returns the simpler forms of a value that differ in one place.
pub(super) fn simpler(value: &Value) -> Box<dyn Iterator<Item = Value> + '_> {
    match value {
        Value::Null => Box::new(std::iter::empty()),
        Value::Bool(is_set) => Box::new(is_set.then_some(json!(false)).into_iter()),
        Value::Number(number) => Box::new(simpler_number(number).into_iter()),
        Value::String(text) => Box::new(simpler_text(text).map(Value::from)),
        Value::Array(items) => {
            let shorter = removals(items.len()).map(move |(from, to)| without(items, from, to).into());
            let inside = items.iter().enumerate().flat_map(move |(idx, item)| {
                simpler(item).map(move |item| {
                    let mut items = items.clone();
                    items[idx] = item;
                    items.into()
                })
            });
            Box::new(shorter.chain(inside))
        }
        Value::Object(members) => {
            let smaller = removals(members.len()).map(move |(from, to)| {
                let kept = members.iter().enumerate().filter(move |(idx, _)| !(from..to).contains(idx));
                kept.map(|(_, (name, member))| (name.clone(), member.clone())).collect::<Map<_, _>>().into()
            });
            let inside = members.iter().flat_map(move |(name, member)| {
                simpler(member).map(move |member| {
                    let mut members = members.clone();
                    members.insert(name.clone(), member);
                    members.into()
                })
            });
            Box::new(smaller.chain(inside))
        }
    }
}

/// Returns the parts of a sequence to remove: all, then each half, then each quarter, down to single elements.
fn removals(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let sizes = std::iter::successors(Some(len), |size| Some(size.div_ceil(2)).filter(|_| *size > 1));
    sizes
        .filter(|size| *size > 0)
        .flat_map(move |size| (0..len).step_by(size).map(move |from| (from, (from + size).min(len))))
}

fn without<T: Clone>(items: &[T], from: usize, to: usize) -> Vec<T> {
    [&items[..from], &items[to..]].concat()
}

fn simpler_text(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let parts = chars.clone();
    let shorter = removals(chars.len()).map(move |(from, to)| without(&parts, from, to).into_iter().collect());
    let plainer = (0..chars.len()).filter_map(move |idx| {
        let mut chars = chars.clone();
        let is_plain = std::mem::replace(&mut chars[idx], 'a') == 'a';
        (!is_plain).then(|| chars.into_iter().collect())
    });
    shorter.chain(plainer)
}

/// Returns zero and one, then numbers that approach this one in halves.
fn simpler_number(number: &Number) -> Vec<Value> {
    if let Some(number) = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
        let steps = std::iter::successors(Some(number), |step| Some(step / 2).filter(|step| *step != 0));
        let nearer = steps.filter(|_| number != 0).map(|step| number - step);
        let one = Some(number.signum()).filter(|one| *one != number);
        let as_value = |number: i128| i64::try_from(number).map_or_else(|_| json!(number as u64), Value::from);
        return nearer.clone().take(1).chain(one).chain(nearer.skip(1)).map(as_value).collect();
    }
    let float = number.as_f64().unwrap_or_default();
    let candidates = [0.0, float.trunc(), float / 2.0].into_iter().filter(|simpler| {
        // Half of a float is simpler only while it is far from zero.
        simpler.to_bits() != float.to_bits() && (simpler.fract() == 0.0 || float.abs() > 1.0)
    });
    let as_value = |float: f64| match float.fract() == 0.0 && float.abs() < 9e15 {
        true => json!(float as i64),
        false => json!(float),
    };
    candidates.map(as_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces a value by the first simpler one that fails, until there is none.
    fn shrunk(mut value: Value, fails: impl Fn(&Value) -> bool) -> (Value, usize) {
        let mut n_tries = 0;
        while let Some(next) = {
            let mut next = simpler(&value).inspect(|_| n_tries += 1);
            next.find(|simpler| fails(simpler))
        } {
            value = next;
        }
        (value, n_tries)
    }

    #[test]
    fn a_failure_shrinks_to_what_it_needs() {
        let value = json!({ "a": [3, 4, 1_000_000], "b": { "c": "text with 😀 in it" }, "d": true });
        let big = |value: &Value| value["a"].as_array().is_some_and(|a| a.iter().any(|n| n.as_i64() > Some(1_234)));
        let (least, n_tries) = shrunk(value.clone(), big);
        assert_eq!(least, json!({ "a": [1_235] }));
        assert!(n_tries < 300, "{n_tries}");
        let emoji = |value: &Value| value["b"]["c"].as_str().is_some_and(|text| text.contains('😀'));
        assert_eq!(shrunk(value.clone(), emoji).0, json!({ "b": { "c": "😀" } }));
        assert_eq!(shrunk(value, |_| true).0, json!({}));
        assert_eq!(shrunk(json!(-1.75e12), |n| n.as_f64() < Some(-2.5)).0, json!(-3));
        assert_eq!(shrunk(json!(u64::MAX), |n| !n.is_null()).0, json!(0));
        assert_eq!(shrunk(json!(u64::MAX), |n| n.as_u64() > Some(1 << 63)).0, json!((1_u64 << 63) + 1));
        assert_eq!(shrunk(json!(i64::MIN), |n| n.as_i64() < Some(-37)).0, json!(-38));
    }
}
