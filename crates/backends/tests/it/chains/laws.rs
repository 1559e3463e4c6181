//! Laws that hold for every chain.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::chains::tools::Mixed;

/// A step of `run:mix`: its constants, whether it uses the preceding result, and an earlier step as the source of `b`.
type Term = (i64, i64, bool, Option<prop::sample::Index>);

fn terms() -> impl Strategy<Value = Vec<Term>> {
    let number = -1000_i64..1000;
    vec((number.clone(), number, any::<bool>(), any::<Option<prop::sample::Index>>()), 1..12)
}

/// Returns the index of the step from which the term at `idx` takes `b`.
fn source(terms: &[Term], idx: usize) -> Option<usize> {
    terms[idx].3.as_ref().filter(|_| idx > 0).map(|source| source.index(idx))
}

fn chain_of(terms: &[Term], start: Chain) -> Chain {
    let step = |idx: usize| {
        let (a, b, uses_previous, _) = &terms[idx];
        let step = Step::new("run:mix").named(format!("s{idx}")).arg("a", *a);
        let step = match source(terms, idx) {
            Some(source) => step.take("b", format!("s{source}"), "/sum"),
            None => step.arg("b", *b),
        };
        if *uses_previous { step.use_previous() } else { step }
    };
    (0..terms.len()).map(step).fold(start, Chain::then)
}

fn by_hand(terms: &[Term]) -> Vec<Value> {
    let mut results: Vec<Value> = Vec::new();
    for (idx, (a, b, uses_previous, _)) in terms.iter().enumerate() {
        let b = source(terms, idx).map_or(json!(b), |source| results[source]["sum"].clone());
        let mut args = json!({ "a": a, "b": b });
        if *uses_previous {
            args["previous"] = idx.checked_sub(1).map_or(Value::Null, |idx| results[idx].clone());
        }
        results.push(dispatcher().call_sync("run:mix", args).unwrap().value());
    }
    results
}

fn results(outcome: &toolkit_backends::chain::ChainOutcome) -> Vec<Value> {
    outcome.steps().iter().map(toolkit_backends::chain::StepResult::value).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "[a-z~/ü\"]{0,6}";
    let value = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), text().prop_map(Value::from)];
    let step = (
        proptest::option::of(text()),
        text(),
        btree_map(text(), value, 0..3),
        any::<bool>(),
        btree_map(text(), (text(), text()), 0..3),
        vec(text(), 0..3),
    );
    let step = step.prop_map(|(id, tool, args, previous, from, after)| {
        let step = Step::new(tool).args(args);
        let step = id.into_iter().fold(step, Step::named);
        let step = from.into_iter().fold(step, |step, (name, (of, pointer))| step.take(name, of, pointer));
        let step = after.into_iter().fold(step, Step::after);
        if previous { step.use_previous() } else { step }
    });
    vec(step, 0..5)
}

proptest! {
    #![proptest_config(test_support::random(128))]

    #[test]
    fn a_chain_does_what_calling_by_hand_does_in_either_order(terms in terms()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let expected = by_hand(&terms);
        for start in [Chain::new(), Chain::parallel()] {
            let chain = chain_of(&terms, start);
            let sync = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
            let polled = runtime.block_on(chain.run(&dispatcher(), &Context::new())).unwrap();
            prop_assert_eq!(results(&sync), &expected[..]);
            prop_assert_eq!(results(&polled), &expected[..]);
            let dispatcher = dispatcher();
            let prepared = chain.prepare(&dispatcher).unwrap();
            for _ in 0..2 {
                prop_assert_eq!(results(&prepared.run_sync(&Context::new())), &expected[..]);
                let polled = runtime.block_on(prepared.run(&Context::new()));
                prop_assert_eq!(results(&polled), &expected[..]);
            }
        }
        prop_assert!(expected.iter().all(|value| serde_json::from_value::<Mixed>(value.clone()).is_ok()));
    }

    #[test]
    fn a_chain_comes_back_from_its_json(steps in steps(), parallel in any::<bool>()) {
        let start = if parallel { Chain::parallel() } else { Chain::new() };
        let chain = steps.into_iter().fold(start, Chain::then);
        let text = serde_json::to_string(&chain).unwrap();
        prop_assert_eq!(&Chain::from_json(&*text).unwrap(), &chain);
        prop_assert_eq!(&serde_json::from_str::<Chain>(&text).unwrap(), &chain);
        prop_assert_eq!(&Chain::from_json(json!(chain)).unwrap(), &chain);
    }

    #[test]
    fn an_invalid_chain_does_not_run(terms in terms(), fault in 0..6_usize, parallel in any::<bool>()) {
        let start = if parallel { Chain::parallel() } else { Chain::new() };
        let last = Step::new("run:mix").named("last").arg("a", 1);
        let (last, kind) = match fault {
            0 => (last, ChainDiagnosticKind::InvalidArguments),
            1 => (last.arg("b", "two"), ChainDiagnosticKind::InvalidArguments),
            2 => (last.take("b", "last", "/sum"), ChainDiagnosticKind::UnknownStep),
            3 => (last.take("b", "s0", "sum"), ChainDiagnosticKind::InvalidPointer),
            4 => (last.take("b", "s0", "/terms"), ChainDiagnosticKind::TypeMismatch),
            _ => (last.take("b", "s0", "/sums"), ChainDiagnosticKind::NothingThere),
        };
        let chain = chain_of(&terms, start).then(last);
        let script = Script::default();
        let problems = chain.run_sync(&dispatcher(), &Context::new().with(script.clone())).unwrap_err();
        prop_assert_eq!(problems.len(), 1, "{}", problems);
        prop_assert_eq!((problems[0].kind(), problems[0].step()), (kind, Some(terms.len())));
        prop_assert!(script.received().is_empty());
        // The pointer refers to the step in the JSON of the chain.
        let step = format!("{}/{}", if parallel { "/steps" } else { "" }, terms.len());
        prop_assert!(problems[0].pointer().starts_with(&step) && json!(chain).pointer(&step).is_some());
    }
}
