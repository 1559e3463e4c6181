//! A running program.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Persistent, Promise, Runtime, Undefined, Value};
use serde_json::value::RawValue;

use crate::engine::javascript::errors::{self, Outcomes};
use crate::engine::javascript::host::{self, Failed, Host, Prelude};
use crate::engine::javascript::source::{FILE, Fuel, ProgramForm, Source, SourcePlace};
use crate::engine::javascript::value::may_have_big_integers;
use crate::engine::{Answer, Done, State, Step, TOO_MANY_CALLS, Usage};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;
use crate::program::Program;

/// The stack of a program: half of that of a thread.
const STACK_BYTES: usize = 1 << 20;

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

/// A running program.
pub(super) struct Machine {
    host: Rc<Host>,
    fuel: Rc<Fuel>,
    outcomes: Outcomes,
    limits: Limits,
    /// The failure of the program, after which only running calls are waited for.
    failure: Option<Failure>,
    main: Option<Persistent<Promise<'static>>>,
    pub(super) is_done: bool,
    /// True after the function `main` of a program that did nothing was looked for.
    has_called_main: bool,
    context: Context,
    runtime: Runtime,
}

impl Machine {
    /// Prepares everything but the program.
    pub(super) fn new(limits: Limits, stop: Arc<AtomicBool>) -> Result<Self, Failure> {
        let runtime = Runtime::new().map_err(|_| errors::out_of_memory())?;
        runtime.set_memory_limit(usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX).max(1));
        runtime.set_max_stack_size(STACK_BYTES);
        let context = Context::custom::<Intrinsics>(&runtime).map_err(|_| errors::out_of_memory())?;
        let fuel = Rc::new(Fuel::new(limits, stop));
        let polled = Rc::clone(&fuel);
        runtime.set_interrupt_handler(Some(Box::new(move || polled.poll())));
        let host = Rc::new(Host::new(limits, Rc::clone(&fuel)));
        let outcomes = Outcomes::new(Rc::clone(&host), Rc::clone(&fuel), limits);
        let prelude = context.with(|ctx| {
            let object = host.object(&ctx, &outcomes.prelude);
            let prelude = object.and_then(|object| Prelude::load(&ctx, object));
            prelude.map_err(|_| fuel.failure().unwrap_or_else(errors::out_of_memory))
        })?;
        *outcomes.prelude.borrow_mut() = Some(prelude);
        outcomes.track_rejections(&runtime);
        Ok(Self {
            host,
            fuel,
            outcomes,
            limits,
            failure: None,
            main: None,
            is_done: false,
            has_called_main: false,
            context,
            runtime,
        })
    }

    /// Starts the program.
    pub(super) fn start(&mut self, program: &Program) -> Step {
        let size = program.code.len() as u64;
        let max = self.limits.code_bytes;
        self.host.set_program(program);
        self.outcomes.source = Source::new(&program.code);
        self.step(|machine, ctx| {
            if size > max {
                let message = format!("the program has {size} bytes; at most {max} are accepted");
                return Err(Failure::new(FailureKind::Size, message));
            }
            if machine.outcomes.source.is_empty() {
                return Err(Failure::new(FailureKind::Syntax, "the program is empty"));
            }
            machine.evaluate(ctx)?;
            machine.run_jobs(ctx)
        })
    }

    /// Answers calls, one after the other: how answers are grouped makes no difference to the program.
    pub(super) fn resume(&mut self, answers: Vec<Answer>) -> Step {
        self.step(|machine, ctx| answers.into_iter().try_for_each(|answer| machine.answer(ctx, answer)))
    }

    fn step(&mut self, run: impl FnOnce(&mut Self, &Ctx<'_>) -> Result<(), Failure>) -> Step {
        self.fuel.resume();
        let context = self.context.clone();
        let mut state = context.with(|ctx| match run(self, &ctx) {
            Ok(()) => self.state(&ctx),
            Err(failure) => self.done(Err(failure)),
        });
        self.fuel.pause();
        let mut usage = Usage { steps: self.fuel.steps(), memory_bytes: 0 };
        let printed = match &mut state {
            State::Waiting(_) => self.host.output.take(),
            State::Done(done) => {
                self.is_done = true;
                usage.memory_bytes = u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0);
                if let Err(failure) = &mut done.outcome {
                    self.outcomes.correct(failure, usage.memory_bytes);
                }
                self.host.output.finish()
            }
        };
        Step { printed, state, usage }
    }

    /// Evaluates the program, without what is not part of it.
    fn evaluate(&mut self, ctx: &Ctx<'_>) -> Result<(), Failure> {
        loop {
            let Err((failure, place)) = self.evaluate_forms(ctx) else { return Ok(()) };
            self.fuel.work(self.outcomes.source.text.len());
            if let Some(failure) = self.fuel.failure() {
                return Err(failure);
            }
            if failure.kind != FailureKind::Syntax || !self.outcomes.source.correct(place) {
                return Err(failure);
            }
        }
    }

    /// Evaluates the program in the first form in which it has no syntax error. Returns an error with its place.
    fn evaluate_forms<'js>(&mut self, ctx: &Ctx<'js>) -> Result<(), (Failure, Option<SourcePlace>)> {
        for &form in self.outcomes.source.forms() {
            let mut options = EvalOptions::default();
            options.filename = Some(FILE.to_owned());
            options.promise = form == ProgramForm::Script;
            let error = match ctx.eval_with_options(self.outcomes.source.evaluated(form), options) {
                Ok(value) => {
                    return self.begin(ctx, value).map_err(|error| (self.outcomes.failure_of(ctx, &error), None));
                }
                Err(error) => error,
            };
            if let Some(failure) = self.fuel.failure() {
                return Err((failure, None));
            }
            let thrown = self.outcomes.thrown(ctx, &error);
            if thrown.is_out_of_memory() {
                return Err((errors::out_of_memory(), None));
            }
            match form {
                ProgramForm::Expression => {}
                ProgramForm::Script if thrown.is_return() => {}
                _ => return Err((errors::syntax(&self.outcomes.source, form, &thrown), thrown.place())),
            }
        }
        Ok(())
    }

    /// Runs the evaluated program: a function, or the promise of its completion.
    fn begin<'js>(&mut self, ctx: &Ctx<'js>, program: Value<'js>) -> Result<(), Error> {
        let run = host::with(&self.outcomes.prelude, |prelude| prelude.run(ctx))?;
        let source = &self.outcomes.source;
        let main: Promise<'js> = run.call((program, source.calls_value(), source.is_module))?;
        self.main = Some(Persistent::save(ctx, main));
        Ok(())
    }

    fn answer(&mut self, ctx: &Ctx<'_>, answer: Answer) -> Result<(), Failure> {
        let Some(waiting) = self.host.take_waiting(answer.id) else { return Ok(()) };
        self.host.now.set(answer.at.max(self.host.now.get()));
        if self.failure.is_some() {
            return Ok(());
        }
        if let Err(thrown) = &answer.outcome {
            let is_excess = thrown.kind == TOO_MANY_CALLS;
            let failed = Failed { place: waiting.place, tool: thrown.tool.clone(), is_excess };
            self.host.failed.borrow_mut().insert(answer.id, failed);
        }
        self.settle(ctx, answer, waiting.stack).map_err(|error| self.outcomes.failure_of(ctx, &error))?;
        self.run_jobs(ctx)?;
        self.reject(ctx);
        Ok(())
    }

    /// Gives an answer to the program.
    fn settle<'js>(&self, ctx: &Ctx<'js>, answer: Answer, stack: String) -> Result<(), Error> {
        let settle = host::with(&self.outcomes.prelude, |prelude| prelude.settle(ctx))?;
        let content = answer.content.as_deref().map(RawValue::get);
        match answer.outcome {
            Ok(result) => {
                self.fuel.work(result.get().len());
                settle.call((answer.id, true, result.get(), content, may_have_big_integers(result.get())))
            }
            Err(thrown) => {
                let mut args = Args::new(ctx.clone(), 10);
                args.push_arg(answer.id)?;
                args.push_arg(false)?;
                args.push_arg(thrown.message)?;
                args.push_arg(Undefined)?;
                args.push_arg(false)?;
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
        while !self.fuel.job() && ctx.execute_pending_job() {}
        self.fuel.failure().map_or(Ok(()), Err)
    }

    fn main<'js>(&self, ctx: &Ctx<'js>) -> Option<Promise<'js>> {
        self.main.clone().and_then(|main| main.restore(ctx).ok())
    }

    /// Keeps the failure of the program if it failed.
    fn reject(&mut self, ctx: &Ctx<'_>) {
        if self.failure.is_none()
            && let Some(main) = self.main(ctx)
            && main.state() == PromiseState::Rejected
            && let Some(Err(error)) = main.result::<Value<'_>>()
        {
            self.failure = Some(self.outcomes.failure_of(ctx, &error));
        }
    }

    /// Returns the state of a program that has nothing to do before it is answered.
    fn state(&mut self, ctx: &Ctx<'_>) -> State {
        self.reject(ctx);
        let main = self.main(ctx).filter(|main| main.state() != PromiseState::Pending);
        let mut calls = self.host.calls.take();
        for call in &mut calls {
            call.line = call.line.map(|line| self.outcomes.source.line(line));
        }
        if self.host.is_waiting(main.is_none()) {
            return State::Waiting(calls);
        }
        if let Some(failure) = self.failure.take() {
            return self.done(Err(failure));
        }
        let Some(main) = main else {
            // A job was lost if it did not fit into the memory.
            if ctx.has_exception() {
                return self.done(Err(errors::out_of_memory()));
            }
            let message = "the program waits for a promise that nothing settles: no call and no sleep is running";
            return self.done(Err(Failure::new(FailureKind::Deadlock, message)));
        };
        if self.outcomes.source.is_script() && !self.has_called_main && self.host.is_untouched() {
            self.has_called_main = true;
            if let Some(main) = self.outcomes.uncalled_main(ctx, &main) {
                let begun = self.begin(ctx, main).map_err(|error| self.outcomes.failure_of(ctx, &error));
                return match begun.and_then(|()| self.run_jobs(ctx)) {
                    Ok(()) => self.state(ctx),
                    Err(failure) => self.done(Err(failure)),
                };
            }
        }
        let value = self.outcomes.value(ctx, &main);
        self.outcomes.print_rejections(ctx);
        self.done(self.fuel.failure().map_or(value, Err))
    }

    fn done(&self, outcome: Result<Box<RawValue>, Failure>) -> State {
        State::Done(Done { outcome, shown: self.host.shown.take() })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.outcomes.clear();
        self.main = None;
    }
}
