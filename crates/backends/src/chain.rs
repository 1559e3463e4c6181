//! Chains of calls, in which the result of one call is an argument of another.
//!
//! A [`Chain`] is data: a model, a file or code lists the tools to call and the sources of their arguments. The whole
//! chain is checked against the schemas of the tools before its first step runs. A program that names its functions
//! calls their handles one after another instead, and rustc checks that the types fit.
//!
//! ```standalone_crate
//! use toolkit::{Catalog, Context, Dispatcher, tool};
//! use toolkit_backends::chain::Chain;
//!
//! /// Splits a text into words.
//! #[tool(namespace = "text")]
//! fn words(text: String) -> Vec<String> {
//!     text.split_whitespace().map(str::to_owned).collect()
//! }
//!
//! /// Greets a person.
//! #[tool(namespace = "text")]
//! fn greet(name: String, greeting: String) -> String {
//!     format!("{greeting}, {name}!")
//! }
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! let chain = Chain::from_json(r#"[
//!     {"id": "all", "toolId": "text:words", "args": {"text": "Ada Grace"}},
//!     {"toolId": "text:greet", "args": {"greeting": "Hello"}, "from": {"name": {"step": "all", "pointer": "/1"}}}
//! ]"#)?;
//! let outcome = chain.run_sync(&dispatcher, &Context::new())?;
//! assert_eq!(outcome.steps()[1].value(), "Hello, Grace!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | field of a step | meaning |
//! |---|---|
//! | `toolId` | the tool, by any of its names |
//! | `args` | the constant arguments |
//! | `usePrevious` | passes the structured result of the preceding step as the argument `previous`, replacing any other |
//! | `id` | the name of the step |
//! | `from` | for each argument, the earlier `step` and the JSON `pointer` into its structured result |
//! | `after` | in a parallel chain, earlier steps to wait for |
//!
//! The steps of a list run one after another. `{"parallel": true, "steps": […]}` runs each step as soon as the steps
//! that it refers to have succeeded; the fields have the same meaning. A step can refer to earlier steps only, so that
//! references cannot be circular and the steps can always run in the order of the list.
//!
//! | module | part |
//! |---|---|
//! | `definition`, `step` | a chain as data, and its JSON |
//! | `plan`, `check`, `reach` | orders the steps by their references, and compares the schemas |
//! | `run`, `execute`, `runner` | runs the steps, each by a runner |
//! | `memory`, `outcome` | the bounds of what a run keeps, and its outcome |

mod check;
mod definition;
mod diagnostic;
mod execute;
mod memory;
mod outcome;
mod part;
mod plan;
mod reach;
mod run;
mod runner;
mod step;

pub use self::definition::{Chain, ParseChainError};
pub use self::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, ChainDiagnostics};
pub use self::memory::{ChainLimits, MAX_TAKEN_BYTES};
pub use self::outcome::{ChainOutcome, StepResult};
pub use self::plan::MAX_STEPS;
pub use self::run::PreparedChain;
pub use self::runner::{StepCall, StepRun, StepRunner};
pub use self::step::{PREVIOUS, Reference, Step, Wait};
