//! The end of a program: its value, or its failure.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, Persistent, Promise, Runtime, Value};
use serde_json::value::RawValue;

use super::errors::{self, Thrown};
use super::fuel::Fuel;
use super::host::Host;
use super::prelude::{self, Slot};
use super::source::Source;
use super::value::{self, Purpose, WriteError};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The maximum number of characters of a thrown value that a failure shows.
const MAX_SHOWN: usize = 500;

/// The steps of a program that did so little that it has not filled the memory.
const FEW_STEPS: u64 = 30_000;

type Stored = Persistent<Value<'static>>;

/// The promises that were rejected and that nothing handles, each with its number and the reason.
type Rejections = HashMap<Stored, (u64, Stored)>;

/// The facts that decide how a program ends.
pub(super) struct Outcomes {
    pub(super) host: Rc<Host>,
    pub(super) fuel: Rc<Fuel>,
    pub(super) source: Source,
    pub(super) prelude: Slot,
    limits: Limits,
    rejections: Rc<RefCell<Rejections>>,
    /// True if null was thrown, which may mean that the memory was exceeded.
    threw_null: Cell<bool>,
}

impl Outcomes {
    pub(super) fn new(host: Rc<Host>, fuel: Rc<Fuel>, limits: Limits) -> Self {
        Self {
            host,
            fuel,
            source: Source::new(""),
            prelude: Rc::default(),
            limits,
            rejections: Rc::default(),
            threw_null: Cell::new(false),
        }
    }

    /// Keeps the promises that are rejected while nothing handles them.
    pub(super) fn track_rejections(&self, runtime: &Runtime) {
        let rejections = Rc::clone(&self.rejections);
        let count = Cell::new(0);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            let promise = Persistent::save(&ctx, promise);
            let mut rejections = rejections.borrow_mut();
            if is_handled {
                rejections.remove(&promise);
            } else {
                count.set(count.get() + 1);
                rejections.insert(promise, (count.get(), Persistent::save(&ctx, reason)));
            }
        })));
    }

    /// Corrects a failure by what the program has used.
    pub(super) fn correct(&self, failure: &mut Failure, memory_bytes: u64) {
        let is_full = memory_bytes > self.limits.memory_bytes / 8 * 7;
        match failure.kind {
            FailureKind::Deadlock if is_full => *failure = errors::out_of_memory(),
            // A program that throws rarely fills the memory in so few steps.
            FailureKind::Memory
                if self.threw_null.get() && !is_full && self.fuel.steps() < FEW_STEPS && self.source.may_throw() =>
            {
                failure.kind = FailureKind::Exception;
                "the program threw null".clone_into(&mut failure.message);
            }
            _ => {}
        }
    }

    /// Returns the value of the program as JSON.
    pub(super) fn value<'js>(&self, ctx: &Ctx<'js>, main: &Promise<'js>) -> Result<Box<RawValue>, Failure> {
        let failure = |error| self.failure_of(ctx, &error);
        let boxed: Object<'js> = main.result().unwrap_or(Err(Error::Unknown)).map_err(failure)?;
        let mut value: Value<'js> = boxed.get("value").map_err(failure)?;
        match ctx.eval::<Value<'js>, _>("__out") {
            Ok(out) if !out.is_undefined() => value = out,
            Ok(_) => {}
            Err(_) => drop(ctx.catch()),
        }
        let reader = prelude::with(&self.prelude, |prelude| prelude.reader(ctx)).map_err(failure)?;
        let limit = usize::try_from(self.limits.value_bytes).unwrap_or(usize::MAX);
        let text = match value::write(&reader, &value, Purpose::Value, limit) {
            Ok(text) => text,
            Err(WriteError::Thrown) => return Err(self.failure_of(ctx, &Error::Exception)),
            Err(WriteError::Rejected(reason)) => {
                let failure = self.failure_for(ctx, &reason);
                let reason = Persistent::save(ctx, reason);
                self.rejections.borrow_mut().retain(|_, (_, rejected)| *rejected != reason);
                return Err(failure);
            }
            Err(WriteError::Invalid(path, reason)) => {
                let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
                return Err(Failure::new(FailureKind::Value, format!("the value{place} is {reason}")));
            }
            Err(WriteError::TooLarge) => {
                let message = format!("the value exceeds {limit} bytes of JSON: return only what is needed");
                return Err(Failure::new(FailureKind::Size, message));
            }
        };
        self.fuel.work(text.len());
        RawValue::from_string(text).map_err(|error| Failure::new(FailureKind::Value, error.to_string()))
    }

    /// Prints what was rejected and what nothing awaited.
    pub(super) fn print_rejections(&self, ctx: &Ctx<'_>) {
        let mut rejections: Vec<(u64, Stored)> = self.rejections.take().into_values().collect();
        rejections.sort_by_key(|(number, _)| *number);
        for (_, reason) in rejections {
            if let Ok(reason) = reason.restore(ctx) {
                let failure = self.failure_for(ctx, &reason);
                self.host.output.print(true, format!("not awaited: {failure}"));
            }
        }
    }

    /// Returns the failure for an error of QuickJS, whose exception is pending.
    pub(super) fn failure_of(&self, ctx: &Ctx<'_>, error: &Error) -> Failure {
        if error.is_exception() {
            let reason = ctx.catch();
            self.failure_for(ctx, &reason)
        } else {
            self.fuel.failure().unwrap_or_else(|| Failure::new(FailureKind::Exception, error.to_string()))
        }
    }

    /// Returns the failure for something that the program threw.
    fn failure_for<'js>(&self, ctx: &Ctx<'js>, reason: &Value<'js>) -> Failure {
        if let Some(failure) = self.fuel.failure() {
            return failure;
        }
        let thrown = self.describe(ctx, reason);
        if thrown.is_null {
            self.threw_null.set(true);
        }
        let reader = prelude::with(&self.prelude, |prelude| prelude.reader(ctx));
        let shown = reader.and_then(|reader| self.host.line(&reader, reason)).unwrap_or_default();
        let shown: String = shown.chars().take(MAX_SHOWN).collect();
        // Reading what was thrown runs functions of the program.
        self.fuel.failure().unwrap_or_else(|| errors::uncaught(&self.host, &self.source, &thrown, &shown))
    }

    /// Takes what QuickJS threw.
    pub(super) fn thrown(&self, ctx: &Ctx<'_>, error: &Error) -> Thrown {
        let reason = if error.is_exception() { ctx.catch() } else { Value::new_null(ctx.clone()) };
        self.describe(ctx, &reason)
    }

    fn describe<'js>(&self, ctx: &Ctx<'js>, reason: &Value<'js>) -> Thrown {
        Thrown::new(prelude::with(&self.prelude, |prelude| prelude.describe(ctx)).ok(), reason)
    }

    /// Drops the values of the program, which must not outlive the runtime.
    pub(super) fn clear(&self) {
        self.rejections.take();
        self.prelude.take();
    }
}
