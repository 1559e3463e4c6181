//! A running program.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Function, Object, Persistent, Promise, Runtime, Value};
use serde_json::value::RawValue;

use super::super::{Answer, Done, State, Step, TOO_MANY_CALLS, Usage};
use super::errors::{self, FILE, Thrown};
use super::fuel::Fuel;
use super::host::{self, Failed, Host, StoredReader};
use super::source::{Form, Source};
use super::value::{self, Purpose, WriteError};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;
use crate::program::Program;

const PRELUDE: &str = include_str!("prelude.js");

/// The stack of a program. It is below that of the threads that run engines.
const STACK_BYTES: usize = 512 << 10;

/// The parts of the language that a program has: all but those that show the time, other threads or the collector.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// A promise that was rejected and that nothing handles, and the reason.
type Rejection = (Persistent<Value<'static>>, Persistent<Value<'static>>);

/// A running program.
pub(super) struct Machine {
    host: Rc<Host>,
    fuel: Rc<Fuel>,
    limits: Limits,
    source: Source,
    /// The failure after which only running calls are waited for.
    failure: Option<Failure>,
    is_done: bool,
    reader: Rc<RefCell<Option<StoredReader>>>,
    rejections: Rc<RefCell<Vec<Rejection>>>,
    prelude: Option<Persistent<Object<'static>>>,
    main: Option<Persistent<Promise<'static>>>,
    context: Context,
    runtime: Runtime,
}

impl Machine {
    pub(super) fn new(limits: Limits, stop: Arc<AtomicBool>, program: &Program) -> Result<Self, Failure> {
        let size = program.code.len() as u64;
        if size > limits.code_bytes {
            let message = format!("the program has {size} bytes; at most {} are accepted", limits.code_bytes);
            return Err(Failure::new(FailureKind::Size, message));
        }
        let unavailable = |_| Failure::new(FailureKind::Memory, "the memory does not suffice to start a program");
        let runtime = Runtime::new().map_err(unavailable)?;
        runtime.set_memory_limit(usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX).max(1));
        runtime.set_max_stack_size(STACK_BYTES);
        let context = Context::custom::<Intrinsics>(&runtime).map_err(unavailable)?;
        let fuel = Rc::new(Fuel::new(limits, stop));
        let polled = Rc::clone(&fuel);
        runtime.set_interrupt_handler(Some(Box::new(move || polled.poll())));
        let machine = Self {
            host: Rc::new(Host::new(limits, program)),
            fuel,
            limits,
            source: Source::new(&program.code),
            failure: None,
            is_done: false,
            reader: Rc::default(),
            rejections: Rc::default(),
            prelude: None,
            main: None,
            context,
            runtime,
        };
        machine.track_rejections();
        Ok(machine)
    }

    fn track_rejections(&self) {
        let rejections = Rc::clone(&self.rejections);
        self.runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            let promise = Persistent::save(&ctx, promise);
            let mut rejections = rejections.borrow_mut();
            if is_handled {
                rejections.retain(|(rejected, _)| *rejected != promise);
            } else {
                rejections.push((promise, Persistent::save(&ctx, reason)));
            }
        })));
    }

    pub(super) fn start(&mut self) -> Step {
        self.fuel.resume();
        let context = self.context.clone();
        let outcome = context.with(|ctx| {
            self.prepare(&ctx).map_err(|error| self.failure_of(&ctx, &error))?;
            self.evaluate(&ctx)?;
            self.run_jobs(&ctx)
        });
        self.finish(outcome)
    }

    pub(super) fn resume(&mut self, answers: Vec<Answer>) -> Step {
        self.fuel.resume();
        let context = self.context.clone();
        let outcome = context.with(|ctx| answers.into_iter().try_for_each(|answer| self.answer(&ctx, answer)));
        self.finish(outcome)
    }

    /// Evaluates the prelude.
    fn prepare<'js>(&mut self, ctx: &Ctx<'js>) -> Result<(), Error> {
        let object = self.host.object(ctx, &self.reader)?;
        let mut options = EvalOptions::default();
        options.filename = Some("prelude.js".to_owned());
        let prelude: Function<'js> = ctx.eval_with_options(PRELUDE, options)?;
        let prelude: Object<'js> = prelude.call((object,))?;
        *self.reader.borrow_mut() = Some(StoredReader {
            plain: prelude.get("plain")?,
            well_formed: prelude.get("wellFormed")?,
            big_to_text: prelude.get("bigToText")?,
        });
        ctx.globals().set("__out", Value::new_undefined(ctx.clone()))?;
        self.prelude = Some(Persistent::save(ctx, prelude));
        Ok(())
    }

    fn prelude<'js, T: rquickjs::FromJs<'js>>(&self, ctx: &Ctx<'js>, name: &str) -> Result<T, Error> {
        self.prelude.clone().ok_or(Error::Unknown)?.restore(ctx)?.get(name)
    }

    /// Evaluates the program in the first form in which it has no syntax error.
    fn evaluate<'js>(&mut self, ctx: &Ctx<'js>) -> Result<(), Failure> {
        let mut first: Option<Failure> = None;
        for form in self.source.forms() {
            let code = self.source.code(*form);
            let mut options = EvalOptions::default();
            options.filename = Some(FILE.to_owned());
            options.promise = *form == Form::Script;
            let value: Result<Value<'js>, Error> = ctx.eval_with_options(code, options);
            match value.and_then(|value| self.begin(ctx, *form, value)) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let (thrown, failure) = self.thrown(ctx, &error);
                    let is_syntax = thrown.is_some_and(|thrown| thrown.name == "SyntaxError");
                    if !is_syntax || self.fuel.failure().is_some() {
                        return Err(failure);
                    }
                    let is_return = failure.message.contains("return not in a function");
                    let failure = Failure { kind: FailureKind::Syntax, ..failure };
                    match form {
                        Form::Expression => {}
                        Form::Script if is_return => {}
                        Form::Script => return Err(failure),
                        Form::Body => first = Some(failure),
                    }
                }
            }
        }
        Err(first.unwrap_or_else(|| Failure::new(FailureKind::Syntax, "the text is not a program")))
    }

    fn begin<'js>(&mut self, ctx: &Ctx<'js>, form: Form, value: Value<'js>) -> Result<(), Error> {
        let run: Function<'js> = self.prelude(ctx, "run")?;
        let form = if form == Form::Script { "script" } else { "function" };
        let main: Promise<'js> = run.call((form, value))?;
        self.main = Some(Persistent::save(ctx, main));
        Ok(())
    }

    fn answer(&mut self, ctx: &Ctx<'_>, answer: Answer) -> Result<(), Failure> {
        let Some(waiting) = self.host.waiting.borrow_mut().remove(&answer.id) else { return Ok(()) };
        self.host.now.set(answer.at.max(self.host.now.get()));
        if self.failure.is_some() {
            return Ok(());
        }
        if let Err(thrown) = &answer.outcome {
            let is_over_limit = thrown.kind == TOO_MANY_CALLS;
            let failed = Failed { place: waiting.place, tool: thrown.tool.clone(), is_over_limit };
            self.host.failed.borrow_mut().insert(answer.id, failed);
        }
        self.settle(ctx, answer, waiting.stack).map_err(|error| self.failure_of(ctx, &error))?;
        self.run_jobs(ctx)
    }

    fn settle<'js>(&self, ctx: &Ctx<'js>, answer: Answer, stack: String) -> Result<(), Error> {
        let settle: Function<'js> = self.prelude(ctx, "settle")?;
        let content = answer.content.as_deref().map(RawValue::get);
        match answer.outcome {
            Ok(result) => settle.call((answer.id, true, result.get(), content)),
            Err(thrown) => {
                let mut args = rquickjs::function::Args::new(ctx.clone(), 9);
                args.push_arg(answer.id)?;
                args.push_arg(false)?;
                args.push_arg(thrown.message)?;
                args.push_arg(rquickjs::Undefined)?;
                args.push_arg(thrown.kind)?;
                args.push_arg(thrown.tool)?;
                args.push_arg(thrown.retryable)?;
                args.push_arg(thrown.violations.as_deref().map(RawValue::get))?;
                args.push_arg(stack)?;
                settle.call_arg(args)
            }
        }
    }

    /// Runs what the program does until it waits.
    fn run_jobs(&self, ctx: &Ctx<'_>) -> Result<(), Failure> {
        while ctx.execute_pending_job() {
            if self.fuel.job() {
                break;
            }
        }
        self.fuel.failure().map_or(Ok(()), Err)
    }

    /// Ends a step.
    fn finish(&mut self, outcome: Result<(), Failure>) -> Step {
        let context = self.context.clone();
        let state = context.with(|ctx| self.state(&ctx, outcome));
        self.fuel.pause();
        let is_done = matches!(state, State::Done(_));
        let mut usage = Usage { steps: self.fuel.steps(), memory_bytes: 0 };
        if is_done && !self.is_done {
            self.is_done = true;
            usage.memory_bytes = u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0);
            if self.host.dropped.get() > 0 {
                let text = format!(
                    "[{} bytes of output were dropped: at most {} bytes are kept]",
                    self.host.dropped.get(),
                    self.limits.output_bytes
                );
                self.host.printed.borrow_mut().push(super::super::Printed { is_error: true, text });
            }
        }
        Step { printed: self.host.printed.take(), state, usage }
    }

    fn state<'js>(&mut self, ctx: &Ctx<'js>, outcome: Result<(), Failure>) -> State {
        if let Err(failure) = outcome {
            return self.done(Err(failure));
        }
        let main = self.main.clone().and_then(|main| main.restore(ctx).ok());
        let is_settled = main.as_ref().is_some_and(|main| main.state() != PromiseState::Pending);
        if self.failure.is_none() && main.as_ref().is_some_and(|main| main.state() == PromiseState::Rejected) {
            self.failure = Some(self.rejected(ctx, main.as_ref()));
        }
        let mut calls = self.host.calls.take();
        for call in &mut calls {
            call.line = call.line.map(|line| self.source.line(line));
        }
        let waits = self.host.waiting.borrow().values().any(|waiting| !is_settled || !waiting.is_pause);
        if waits {
            return State::Waiting(calls);
        }
        if let Some(failure) = self.failure.take() {
            return self.done(Err(failure));
        }
        let Some(main) = main.filter(|_| is_settled) else {
            let message = "the program waits for a promise that nothing settles: no call and no sleep is running";
            return self.done(Err(Failure::new(FailureKind::Deadlock, message)));
        };
        let value = self.value(ctx, &main);
        self.print_rejections(ctx);
        let value = self.fuel.failure().map_or(value, Err);
        self.done(value)
    }

    fn done(&self, outcome: Result<Box<RawValue>, Failure>) -> State {
        State::Done(Done { outcome, shown: self.host.shown.take() })
    }

    /// Returns the failure of the program, whose promise was rejected.
    fn rejected<'js>(&self, ctx: &Ctx<'js>, main: Option<&Promise<'js>>) -> Failure {
        if let Some(Err(error)) = main.and_then(Promise::result::<Value<'js>>) {
            return self.failure_of(ctx, &error);
        }
        Failure::new(FailureKind::Exception, "the program failed")
    }

    /// Returns the value of the program as JSON.
    fn value<'js>(&self, ctx: &Ctx<'js>, main: &Promise<'js>) -> Result<Box<RawValue>, Failure> {
        let failure = |error| self.failure_of(ctx, &error);
        let boxed: Object<'js> = main.result().unwrap_or(Err(Error::Unknown)).map_err(failure)?;
        let mut value: Value<'js> = boxed.get("value").map_err(failure)?;
        if let Ok(out) = ctx.eval::<Value<'js>, _>("__out") {
            if !out.is_undefined() {
                value = out;
            }
        } else {
            errors::caught(ctx);
        }
        let reader = host::restore(ctx, &self.reader).map_err(failure)?;
        let limit = usize::try_from(self.limits.value_bytes).unwrap_or(usize::MAX);
        let text = match value::write(&reader, &value, Purpose::Value, limit) {
            Ok(text) => text,
            Err(WriteError::Thrown) => return Err(self.failure_of(ctx, &Error::Exception)),
            Err(WriteError::Rejected(reason)) => return Err(self.failure_of_reason(ctx, &reason).1),
            Err(WriteError::Invalid(path, reason)) => {
                let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
                let message = format!("the value cannot be written as JSON:{place} it is {reason}");
                return Err(Failure::new(FailureKind::Value, message));
            }
            Err(WriteError::TooLarge) => {
                let message = format!("the value exceeds {limit} bytes of JSON: return only what is needed");
                return Err(Failure::new(FailureKind::Size, message));
            }
        };
        RawValue::from_string(text).map_err(|error| Failure::new(FailureKind::Value, error.to_string()))
    }

    fn print_rejections(&self, ctx: &Ctx<'_>) {
        let rejections = self.rejections.take();
        for (_, reason) in rejections {
            if let Ok(reason) = reason.restore(ctx) {
                let (_, failure) = self.failure_of_reason(ctx, &reason);
                self.host.print(true, format!("an error that nothing awaited: {failure}"));
            }
        }
    }

    /// Returns the failure for an error of QuickJS, whose exception is pending.
    fn failure_of(&self, ctx: &Ctx<'_>, error: &Error) -> Failure {
        self.thrown(ctx, error).1
    }

    fn thrown(&self, ctx: &Ctx<'_>, error: &Error) -> (Option<Thrown>, Failure) {
        if let Some(failure) = self.fuel.failure() {
            errors::caught(ctx);
            return (None, failure);
        }
        if !error.is_exception() {
            return (None, Failure::new(FailureKind::Exception, error.to_string()));
        }
        let reason = errors::caught(ctx);
        let (thrown, failure) = self.failure_of_reason(ctx, &reason);
        (Some(thrown), failure)
    }

    fn failure_of_reason<'js>(&self, ctx: &Ctx<'js>, reason: &Value<'js>) -> (Thrown, Failure) {
        let describe: Result<Function<'js>, Error> = self.prelude(ctx, "describeThrown");
        let Ok(describe) = describe else {
            let message = "the memory does not suffice to start a program";
            let thrown = Thrown::unknown(reason);
            return (thrown, Failure::new(FailureKind::Memory, message));
        };
        let thrown = Thrown::new(&describe, reason);
        let line = || match host::restore(ctx, &self.reader).and_then(|reader| self.host.line(&reader, reason)) {
            Ok(line) => line.chars().take(500).collect(),
            Err(_) => "something".to_owned(),
        };
        let failure = errors::failure(&self.host, &self.source, &thrown, line);
        (thrown, failure)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Values must not outlive the runtime.
        self.rejections.take();
        self.reader.take();
        self.prelude = None;
        self.main = None;
    }
}
