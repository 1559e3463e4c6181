//! The exchange of a program with its host.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Error, Exception, Object, Value};

use super::super::{Call, Printed, Request, Shown};
use super::fuel::Fuel;
use super::names::Names;
use super::prelude::{self, Slot};
use super::request::RequestReader;
use super::source::Place;
use super::value::{self, Purpose, Reader, WriteError};
use crate::limits::Limits;
use crate::program::Program;

/// The maximum number of blocks that a program shows.
const MAX_SHOWN: usize = 1024;
/// The maximum size of the requests without an answer, in units of [`Limits::message_bytes`].
const MAX_WAITING: usize = 4;

/// The state that the functions of the prelude share with the engine.
pub(super) struct Host {
    message_bytes: usize,
    names: RefCell<Names>,
    fuel: Rc<Fuel>,
    random: Random,
    pub(super) output: Output,
    /// The time as the program sees it, in milliseconds since 1970.
    pub(super) now: Cell<u64>,
    last_id: Cell<u32>,
    /// The requests since the last step.
    calls: RefCell<Vec<Call>>,
    waiting: RefCell<BTreeMap<u32, Waiting>>,
    waiting_bytes: Cell<usize>,
    failed: RefCell<BTreeMap<u32, Failed>>,
    shown: RefCell<Vec<Shown>>,
}

/// A request without an answer.
pub(super) struct Waiting {
    pub(super) place: Option<Place>,
    pub(super) stack: String,
    /// True for a pause, which a program that has ended does not wait for.
    is_pause: bool,
    size: usize,
}

/// A call that failed.
#[derive(Clone)]
pub(super) struct Failed {
    pub(super) place: Option<Place>,
    pub(super) tool: Option<String>,
    /// True if the call exceeded the number of calls.
    pub(super) is_excess: bool,
}

impl Host {
    pub(super) fn new(limits: Limits, fuel: Rc<Fuel>) -> Self {
        Self {
            message_bytes: usize::try_from(limits.message_bytes).unwrap_or(usize::MAX),
            names: RefCell::default(),
            fuel,
            random: Random::default(),
            output: Output::new(limits.output_bytes),
            now: Cell::new(0),
            last_id: Cell::new(0),
            calls: RefCell::default(),
            waiting: RefCell::default(),
            waiting_bytes: Cell::new(0),
            failed: RefCell::default(),
            shown: RefCell::default(),
        }
    }

    /// Sets the program that the host serves.
    pub(super) fn set_program(&self, program: &Program) {
        self.names.replace(Names::new(program.functions.clone()));
        self.random.set_seed(program.seed);
        self.now.set(program.started_at);
    }

    /// Takes the requests since the last time.
    pub(super) fn take_calls(&self) -> Vec<Call> {
        self.calls.take()
    }

    /// Takes a request that is answered.
    pub(super) fn take_waiting(&self, id: u32) -> Option<Waiting> {
        let waiting = self.waiting.borrow_mut().remove(&id)?;
        self.waiting_bytes.set(self.waiting_bytes.get() - waiting.size);
        Some(waiting)
    }

    /// Returns true if requests have no answer; pauses count if `pauses` is true.
    pub(super) fn is_waiting(&self, pauses: bool) -> bool {
        self.waiting.borrow().values().any(|waiting| pauses || !waiting.is_pause)
    }

    /// Returns the places of the calls without an answer.
    pub(super) fn waiting_places(&self) -> Vec<Place> {
        self.waiting.borrow().values().filter(|waiting| !waiting.is_pause).filter_map(|waiting| waiting.place).collect()
    }

    pub(super) fn add_failed(&self, id: u32, failed: Failed) {
        self.failed.borrow_mut().insert(id, failed);
    }

    pub(super) fn failed(&self, id: u32) -> Option<Failed> {
        self.failed.borrow().get(&id).cloned()
    }

    pub(super) fn take_shown(&self) -> Vec<Shown> {
        self.shown.take()
    }

    pub(super) fn names(&self) -> Ref<'_, Names> {
        self.names.borrow()
    }

    /// Creates the object by which the prelude reaches the host.
    pub(super) fn object<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, slot: &Slot) -> Result<Object<'js>, Error> {
        let object = Object::new_proto(ctx.clone(), None)?;
        let (host, prelude) = (Rc::clone(self), Rc::clone(slot));
        let request = move |ctx: Ctx<'js>, kind: String, first: Value<'js>, second: Value<'js>, stack: Value<'js>| {
            host.check(&ctx)?;
            let reader = prelude::with(&prelude, |prelude| prelude.reader(&ctx))?;
            let reader = RequestReader { ctx: &ctx, reader, limit: host.message_bytes };
            let (request, size) = reader.read(&kind, &first, &second)?;
            let stack = stack.as_string().and_then(|stack| stack.to_string().ok()).unwrap_or_default();
            host.request(&ctx, request, size, stack)
        };
        object.set("request", Func::from(request))?;
        let (host, prelude) = (Rc::clone(self), Rc::clone(slot));
        let print = move |ctx: Ctx<'js>, is_error: bool, values: Array<'js>| {
            host.check(&ctx)?;
            let reader = prelude::with(&prelude, |prelude| prelude.reader(&ctx))?;
            host.print(&reader, is_error, &values)
        };
        object.set("print", Func::from(print))?;
        let host = Rc::clone(self);
        object.set("show", Func::from(move |ctx: Ctx<'js>, call: f64, block: f64| host.show(&ctx, call, block)))?;
        let host = Rc::clone(self);
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 milliseconds")]
        object.set("now", Func::from(move || host.now.get() as f64))?;
        let host = Rc::clone(self);
        object.set("random", Func::from(move || host.random.next()))?;
        let host = Rc::clone(self);
        object.set("tool", Func::from(move |path: String| host.names().tool(&path).map(str::to_owned)))?;
        let host = Rc::clone(self);
        object.set("exists", Func::from(move |path: String| host.names().exists(&path)))?;
        let host = Rc::clone(self);
        object.set("hasMembers", Func::from(move |path: String| host.names().has_members(&path)))?;
        let host = Rc::clone(self);
        object.set("members", Func::from(move |path: String| host.members(&path)))?;
        let host = Rc::clone(self);
        object.set("unknown", Func::from(move |path: String| host.unknown(&path)))?;
        Ok(object)
    }

    /// Throws if the program must end, which QuickJS notices at its next poll.
    fn check(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        if self.fuel.work(0) { Err(Exception::throw_internal(ctx, "the program must end")) } else { Ok(()) }
    }

    fn request(&self, ctx: &Ctx<'_>, request: Request, size: usize, stack: String) -> Result<u32, Error> {
        self.fuel.work(size);
        if self.waiting_bytes.get() + size > self.message_bytes.saturating_mul(MAX_WAITING) {
            let message = "the pending calls are too large: await some of them before you make more";
            return Err(Exception::throw_range(ctx, message));
        }
        self.waiting_bytes.set(self.waiting_bytes.get() + size);
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let place = Place::in_stack(&stack);
        let is_pause = matches!(request, Request::Sleep { .. });
        self.calls.borrow_mut().push(Call { id, line: place.map(|place| place.line), request });
        self.waiting.borrow_mut().insert(id, Waiting { place, stack, is_pause, size });
        Ok(id)
    }

    fn print<'js>(&self, reader: &Reader<'js>, is_error: bool, values: &Array<'js>) -> Result<(), Error> {
        let mut text = String::new();
        for idx in 0..values.len() {
            let value: Value<'js> = values.get(idx)?;
            if idx > 0 {
                text.push(' ');
            }
            text.push_str(&self.line(reader, &value)?);
        }
        self.fuel.work(text.len());
        self.output.print(is_error, text);
        Ok(())
    }

    /// Returns a value as it is printed.
    pub(super) fn line<'js>(&self, reader: &Reader<'js>, value: &Value<'js>) -> Result<String, Error> {
        if value.is_string() {
            return value::string_of(reader, value).map_err(|_| Error::Exception);
        }
        match value::write(reader, value, Purpose::Print, self.message_bytes) {
            Ok(text) => Ok(text),
            Err(WriteError::TooLarge) => {
                self.fuel.work(self.message_bytes);
                Ok(format!("[more than {} bytes]", self.message_bytes))
            }
            Err(_) => Err(Error::Exception),
        }
    }

    fn show(&self, ctx: &Ctx<'_>, call: f64, block: f64) -> Result<(), Error> {
        let last = f64::from(self.last_id.get());
        if call.fract() != 0.0 || !(1.0..=last).contains(&call) || block.fract() != 0.0 || !(0.0..1e6).contains(&block)
        {
            return Err(Exception::throw_type(ctx, "show takes the result of a tool, or a block of its content"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are small integers")]
        let shown = Shown { call: call as u32, block: block as u32 };
        let mut all = self.shown.borrow_mut();
        self.fuel.work(all.len());
        if !all.contains(&shown) && all.len() < MAX_SHOWN {
            all.push(shown);
        }
        Ok(())
    }

    /// Returns the names in a namespace, as JSON.
    fn members(&self, path: &str) -> String {
        let names = serde_json::json!(self.names().members(path)).to_string();
        self.fuel.work(names.len());
        names
    }

    /// Returns the message for a path without a tool.
    fn unknown(&self, path: &str) -> String {
        // Each name is compared.
        if self.fuel.work(self.names().size()) {
            return String::new();
        }
        self.names().unknown(path)
    }
}

/// The lines that a program printed, up to a limit.
pub(super) struct Output {
    limit: u64,
    size: Cell<u64>,
    dropped: Cell<u64>,
    lines: RefCell<Vec<Printed>>,
}

impl Output {
    fn new(limit: u64) -> Self {
        Self { limit, size: Cell::new(0), dropped: Cell::new(0), lines: RefCell::default() }
    }

    /// Keeps a line, or the part of it that the limit allows.
    pub(super) fn print(&self, is_error: bool, mut text: String) {
        let left = self.limit.saturating_sub(self.size.get());
        // A line takes memory even if it is empty.
        let size = text.len() as u64 + 1;
        self.size.set(self.size.get().saturating_add(size));
        if size > left {
            let kept = text.floor_char_boundary(usize::try_from(left).unwrap_or(usize::MAX));
            self.dropped.set(self.dropped.get().saturating_add((text.len() - kept) as u64));
            if kept == 0 {
                return;
            }
            text.truncate(kept);
        }
        self.lines.borrow_mut().push(Printed { is_error, text });
    }

    /// Takes the lines since the last time.
    pub(super) fn take(&self) -> Vec<Printed> {
        self.lines.take()
    }

    /// Takes the last lines, with a note if others were dropped.
    pub(super) fn finish(&self) -> Vec<Printed> {
        let mut lines = self.take();
        if self.dropped.get() > 0 {
            let text =
                format!("[{} bytes of output were dropped: at most {} are kept]", self.dropped.get(), self.limit);
            lines.push(Printed { is_error: true, text });
        }
        lines
    }
}

/// The sequence of random numbers that a seed selects (SplitMix64), which can be repeated.
#[derive(Default)]
struct Random(Cell<u64>);

impl Random {
    fn set_seed(&self, seed: u64) {
        self.0.set(seed);
    }

    /// Returns the next number, from 0 inclusive to 1 exclusive.
    fn next(&self) -> f64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let number = ((mixed ^ (mixed >> 31)) >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }
}
