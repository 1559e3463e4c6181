//! `ConcurrencyPerTool` compared with a model: a FIFO queue for each tool.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use proptest::prelude::*;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_tower::ConcurrencyPerTool;

/// The running calls, and those that are allowed to end.
#[derive(Clone, Default)]
struct Gates(Arc<Mutex<(BTreeSet<usize>, BTreeSet<usize>)>>);

/// Removes a call when it ends.
struct Inside(Gates, usize);

impl Gates {
    async fn pass(&self, id: usize) {
        self.0.lock().unwrap().0.insert(id);
        let inside = Inside(self.clone(), id);
        poll_fn(|_| if inside.0.0.lock().unwrap().1.contains(&id) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn inside(&self) -> BTreeSet<usize> {
        self.0.lock().unwrap().0.clone()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().0.remove(&self.1);
    }
}

/// Stays until it may go.
#[tool(namespace = "model")]
async fn a(id: usize, gates: &Gates) {
    gates.pass(id).await;
}

/// Stays until it may go.
#[tool(namespace = "model")]
async fn b(id: usize, gates: &Gates) {
    gates.pass(id).await;
}

/// Waits for its gate, and then panics.
#[tool(namespace = "model")]
async fn c(id: usize, gates: &Gates) {
    gates.pass(id).await;
    panic!("as it does");
}

const TOOLS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Call(usize),
    /// The others refer to an existing call.
    Finish(prop::sample::Index),
    Cancel(prop::sample::Index),
    Drop(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..TOOLS.len()).prop_map(Step::Call),
        3 => any::<prop::sample::Index>().prop_map(Step::Finish),
        1 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        1 => any::<prop::sample::Index>().prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 1..60)
}

/// The expected state: the running and waiting calls of each tool.
#[derive(Default)]
struct Model {
    limit: usize,
    refuses: bool,
    running: [BTreeSet<usize>; 3],
    waiting: [VecDeque<usize>; 3],
}

impl Model {
    /// Returns true if the call runs or waits, and false if it is rejected.
    fn call(&mut self, tool: usize, id: usize) -> bool {
        if self.running[tool].len() < self.limit {
            self.running[tool].insert(id);
        } else if self.refuses || self.limit == 0 {
            return false;
        } else {
            self.waiting[tool].push_back(id);
        }
        true
    }

    fn leave(&mut self, tool: usize, id: usize) {
        self.waiting[tool].retain(|other| *other != id);
        if self.running[tool].remove(&id)
            && let Some(next) = self.waiting[tool].pop_front()
        {
            self.running[tool].insert(next);
        }
    }

    fn inside(&self) -> BTreeSet<usize> {
        self.running.iter().flatten().copied().collect()
    }
}

type Ending = Pin<Box<dyn Future<Output = Result<(), ToolError>>>>;

struct Under {
    tool: usize,
    token: CancelToken,
    call: Ending,
}

/// Polls every call until nothing changes, and returns the outcomes of those that have ended.
fn settle(calls: &mut BTreeMap<usize, Under>, gates: &Gates) -> BTreeMap<usize, Result<(), ErrorKind>> {
    let mut ended = BTreeMap::new();
    loop {
        let (n_before, inside_before) = (calls.len(), gates.inside());
        calls.retain(|id, under| match under.call.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => {
                ended.insert(*id, outcome.map_err(|error| error.kind()));
                false
            }
            Poll::Pending => true,
        });
        if calls.len() == n_before && gates.inside() == inside_before {
            return ended;
        }
    }
}

fn run(limit: usize, refuses: bool, steps: &[Step]) {
    let gates = Gates::default();
    let places = ConcurrencyPerTool::new(limit);
    let places = if refuses { places.reject_excess() } else { places };
    let builder = Dispatcher::builder(catalog![a, b, c].unwrap()).state(gates.clone());
    let dispatcher = builder.layer(places).build().unwrap();
    let mut model = Model { limit, refuses, ..Model::default() };
    let mut calls: BTreeMap<usize, Under> = BTreeMap::new();
    for (next_id, step) in steps.iter().enumerate() {
        let ids: Vec<usize> = calls.keys().copied().collect();
        let pick = |index: &prop::sample::Index| (!ids.is_empty()).then(|| *index.get(&ids));
        let mut expected = BTreeMap::new();
        match step {
            Step::Call(tool) => {
                let (dispatcher, token, tool) = (dispatcher.clone(), CancelToken::new(), *tool);
                let context = Context::new().with_cancel(token.clone());
                let call = async move {
                    dispatcher.call_with(&context, TOOLS[tool], format!(r#"{{"id":{next_id}}}"#)).await.map(drop)
                };
                calls.insert(next_id, Under { tool, token, call: Box::pin(call) });
                if !model.call(tool, next_id) {
                    expected.insert(next_id, Err(ErrorKind::Overloaded));
                }
            }
            Step::Finish(index) => {
                // Only a running call can end.
                if let Some(id) = pick(index).filter(|id| model.inside().contains(id)) {
                    gates.0.lock().unwrap().1.insert(id);
                    let tool = calls[&id].tool;
                    expected.insert(id, if tool == 2 { Err(ErrorKind::Panicked) } else { Ok(()) });
                    model.leave(tool, id);
                }
            }
            Step::Cancel(index) => {
                if let Some(id) = pick(index) {
                    calls[&id].token.cancel();
                    expected.insert(id, Err(ErrorKind::Cancelled));
                    model.leave(calls[&id].tool, id);
                }
            }
            Step::Drop(index) => {
                if let Some(id) = pick(index)
                    && let Some(under) = calls.remove(&id)
                {
                    model.leave(under.tool, id);
                }
            }
        }
        assert_eq!(settle(&mut calls, &gates), expected, "how calls ended after {step:?}");
        assert_eq!(gates.inside(), model.inside(), "who runs after {step:?}");
    }
}

#[test]
fn calls_run_wait_and_are_rejected_like_in_the_model() {
    let mut runner = proptest::test_runner::TestRunner::new(test_support::random(400));
    let cases = (0_usize..4, any::<bool>(), steps());
    let outcome = runner.run(&cases, |(limit, refuses, steps)| {
        run(limit, refuses, &steps);
        Ok(())
    });
    outcome.unwrap();
}
