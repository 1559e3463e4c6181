//! The exchange of a program with its host.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::loader::Loader;
use rquickjs::loader::bundle::{Bundle, ScaBundleData};
use rquickjs::{Array, Ctx, Error, Exception, Function, Object, Persistent, TypedArray, Value};
use serde_json::value::RawValue;

use crate::engine::javascript::source::{Fuel, SourcePlace, ToolNames};
use crate::engine::javascript::value::{self, Purpose, ValueReader, WriteError};
use crate::engine::{Call, Printed, Request, Shown};
use crate::limits::Limits;
use crate::program::Program;

/// The maximum number of blocks that a program shows.
const MAX_SHOWN: usize = 1024;
/// The maximum size of the requests without an answer, in units of [`Limits::message_bytes`].
const MAX_WAITING: usize = 4;

/// The state that the functions of the prelude share with the engine.
pub(super) struct Host {
    message_bytes: usize,
    names: RefCell<ToolNames>,
    fuel: Rc<Fuel>,
    random: Random,
    pub(super) output: PrintedOutput,
    /// The time as the program sees it, in milliseconds since 1970.
    pub(super) now: Cell<u64>,
    last_id: Cell<u32>,
    /// The requests since the last step.
    pub(super) calls: RefCell<Vec<Call>>,
    waiting: RefCell<BTreeMap<u32, OpenCalls>>,
    waiting_bytes: Cell<usize>,
    pub(super) failed: RefCell<BTreeMap<u32, Failed>>,
    pub(super) shown: RefCell<Vec<Shown>>,
}

/// A request without an answer.
pub(super) struct OpenCalls {
    pub(super) place: Option<SourcePlace>,
    pub(super) stack: String,
    /// True for a pause, which a program that has ended does not wait for.
    is_pause: bool,
    size: usize,
}

/// A call that failed.
#[derive(Clone)]
pub(super) struct Failed {
    pub(super) place: Option<SourcePlace>,
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
            output: PrintedOutput::new(limits.output_bytes),
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
        self.names.replace(ToolNames::new(program.functions.clone()));
        self.random.set_seed(program.seed);
        self.now.set(program.started_at);
    }

    /// Takes a request that is answered.
    pub(super) fn take_waiting(&self, id: u32) -> Option<OpenCalls> {
        let waiting = self.waiting.borrow_mut().remove(&id)?;
        self.waiting_bytes.set(self.waiting_bytes.get() - waiting.size);
        Some(waiting)
    }

    /// Returns true if requests have no answer; pauses count if `pauses` is true.
    pub(super) fn is_waiting(&self, pauses: bool) -> bool {
        self.waiting.borrow().values().any(|waiting| pauses || !waiting.is_pause)
    }

    /// Returns true if the program has made no request and printed nothing.
    pub(super) fn is_untouched(&self) -> bool {
        self.last_id.get() == 0 && self.output.size.get() == 0
    }

    /// Returns the places of the calls without an answer.
    pub(super) fn waiting_places(&self) -> Vec<SourcePlace> {
        self.waiting.borrow().values().filter(|waiting| !waiting.is_pause).filter_map(|waiting| waiting.place).collect()
    }

    pub(super) fn failed(&self, id: u32) -> Option<Failed> {
        self.failed.borrow().get(&id).cloned()
    }

    pub(super) fn names(&self) -> Ref<'_, ToolNames> {
        self.names.borrow()
    }

    /// Creates the object by which the prelude reaches the host.
    pub(super) fn object<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, slot: &PreludeSlot) -> Result<Object<'js>, Error> {
        let object = Object::new_proto(ctx.clone(), None)?;
        let (host, prelude) = (Rc::clone(self), Rc::clone(slot));
        let request = move |ctx: Ctx<'js>, kind: String, first: Value<'js>, second: Value<'js>, stack: Value<'js>| {
            host.check(&ctx)?;
            let reader = with(&prelude, |prelude| prelude.reader(&ctx))?;
            let reader = RequestReader { ctx: &ctx, reader, limit: host.message_bytes };
            let (request, size) = reader.read(&kind, &first, &second)?;
            let stack = stack.as_string().and_then(|stack| stack.to_string().ok()).unwrap_or_default();
            host.request(&ctx, request, size, stack)
        };
        object.set("request", Func::from(request))?;
        let (host, prelude) = (Rc::clone(self), Rc::clone(slot));
        let print = move |ctx: Ctx<'js>, is_error: bool, values: Array<'js>| {
            host.check(&ctx)?;
            let reader = with(&prelude, |prelude| prelude.reader(&ctx))?;
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
        let host = Rc::clone(self);
        let has_big_integers = move |text: String| {
            host.fuel.work(text.len());
            value::may_have_big_integers(&text)
        };
        let host = Rc::clone(self);
        // The copy is in the memory of the program, which is limited.
        let encode = move |ctx: Ctx<'js>, text: String| {
            host.fuel.work(text.len());
            TypedArray::new_copy(ctx, text.as_bytes())
        };
        object.set("encode", Func::from(encode))?;
        object.set("decode", Func::from(|bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned()))?;
        object.set("hasBigIntegers", Func::from(has_big_integers))?;
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
        let place = SourcePlace::in_stack(&stack);
        let is_pause = matches!(request, Request::Sleep { .. });
        self.calls.borrow_mut().push(Call { id, line: place.map(|place| place.line), request });
        self.waiting.borrow_mut().insert(id, OpenCalls { place, stack, is_pause, size });
        Ok(id)
    }

    fn print<'js>(&self, reader: &ValueReader<'js>, is_error: bool, values: &Array<'js>) -> Result<(), Error> {
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
    pub(super) fn line<'js>(&self, reader: &ValueReader<'js>, value: &Value<'js>) -> Result<String, Error> {
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
pub(super) struct PrintedOutput {
    limit: u64,
    size: Cell<u64>,
    dropped: Cell<u64>,
    lines: RefCell<Vec<Printed>>,
}

impl PrintedOutput {
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

/// The longest pause of `sleep`, in milliseconds: a day.
const MAX_SLEEP: f64 = 86_400_000.0;

/// A reader of the arguments of the functions that make requests.
pub(super) struct RequestReader<'a, 'js> {
    pub(super) ctx: &'a Ctx<'js>,
    pub(super) reader: ValueReader<'js>,
    /// The maximum size of a request, in bytes.
    pub(super) limit: usize,
}

impl<'js> RequestReader<'_, 'js> {
    /// Returns a request and its size in bytes, or throws.
    pub(super) fn read(&self, kind: &str, first: &Value<'js>, second: &Value<'js>) -> Result<(Request, usize), Error> {
        let mut size = 0;
        let request = match kind {
            "tool" => Request::RunTool {
                id: self.text(first, &mut size)?,
                args: self.json(second, "the arguments", "{}", &mut size)?,
            },
            "chain" => Request::RunChain { steps: self.json(first, "the steps", "[]", &mut size)? },
            "search" => Request::SearchTools { query: self.text(first, &mut size)?, limit: count(second) },
            "namespaces" => Request::ListNamespaces,
            "describe" => {
                let mut ids = Vec::new();
                self.ids(first, 2, &mut ids, &mut size)?;
                Request::DescribeTool { ids }
            }
            "examples" => Request::ListToolExamples { id: self.text(first, &mut size)?, max: count(second) },
            _ => Request::Sleep { ms: milliseconds(first) },
        };
        Ok((request, size))
    }

    /// Returns a value as JSON.
    fn json(&self, value: &Value<'js>, what: &str, default: &str, size: &mut usize) -> Result<Box<RawValue>, Error> {
        if value.is_undefined() {
            return self.raw(default.to_owned());
        }
        match value::write(&self.reader, value, Purpose::Arguments, self.limit.saturating_sub(*size)) {
            Ok(text) => {
                *size += text.len();
                self.raw(text)
            }
            Err(WriteError::Thrown) => Err(Error::Exception),
            Err(WriteError::TooLarge) => Err(self.too_large()),
            Err(WriteError::Invalid(path, reason)) => {
                let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
                Err(Exception::throw_type(self.ctx, &format!("{what}{place} cannot be sent: {reason}")))
            }
            Err(WriteError::Rejected(_)) => Err(Exception::throw_type(self.ctx, &format!("{what} cannot be sent"))),
        }
    }

    fn raw(&self, text: String) -> Result<Box<RawValue>, Error> {
        RawValue::from_string(text).map_err(|error| Exception::throw_type(self.ctx, &error.to_string()))
    }

    fn text(&self, value: &Value<'js>, size: &mut usize) -> Result<String, Error> {
        let text = value::string_of(&self.reader, value).map_err(|_| Error::Exception)?;
        *size += text.len();
        if *size > self.limit { Err(self.too_large()) } else { Ok(text) }
    }

    /// Collects the ids in a list, and in the lists inside it.
    fn ids(&self, value: &Value<'js>, depth: u8, ids: &mut Vec<String>, size: &mut usize) -> Result<(), Error> {
        if value.is_string() {
            // An empty id takes memory too.
            *size += 16;
            ids.push(self.text(value, size)?);
            return Ok(());
        }
        match value.as_array() {
            Some(list) if depth > 0 && !value.is_proxy() => {
                (0..list.len()).try_for_each(|idx| self.ids(&list.get(idx)?, depth - 1, ids, size))
            }
            _ => Err(Exception::throw_type(self.ctx, "describe takes the ids of tools, as strings")),
        }
    }

    fn too_large(&self) -> Error {
        let message = format!("a request exceeds {} bytes: send less, or in several calls", self.limit);
        Exception::throw_range(self.ctx, &message)
    }
}

fn count(value: &Value<'_>) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().filter(|number| *number >= 0.0).map(|number| number as u32)
}

fn milliseconds(value: &Value<'_>) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().map_or(0, |ms| ms.clamp(0.0, MAX_SLEEP) as u64)
}

/// The bytecode of a module that sets the global `prelude`, which `build.rs` compiles: the same for all programs.
const PRELUDE: Bundle<ScaBundleData<&[u8]>> =
    Bundle(&[("prelude.js", include_bytes!(concat!(env!("OUT_DIR"), "/prelude.bin")))]);

type Stored = Persistent<Function<'static>>;

/// The functions by which the host drives a program. They must not outlive the runtime.
pub(super) struct Prelude {
    settle: Stored,
    run: Stored,
    describe: Stored,
    object_prototype: Persistent<Object<'static>>,
    is_array: Stored,
    plain: Stored,
    well_formed: Stored,
    big_to_text: Stored,
}

/// The place of the functions, which the functions of the host reach before they are there.
pub(super) type PreludeSlot = Rc<RefCell<Option<Prelude>>>;

impl Prelude {
    /// Evaluates the prelude. It reaches the host by an object.
    pub(super) fn load<'js>(ctx: &Ctx<'js>, host: Object<'js>) -> Result<Self, Error> {
        let mut bundle = PRELUDE;
        let (_, evaluated) = bundle.load(ctx, "prelude.js", None)?.eval()?;
        evaluated.result::<()>().unwrap_or(Err(Error::Unknown))?;
        let prelude: Function<'js> = ctx.globals().get("prelude")?;
        ctx.globals().remove("prelude")?;
        let prelude: Object<'js> = prelude.call((host,))?;
        Ok(Self {
            settle: prelude.get("settle")?,
            run: prelude.get("run")?,
            describe: prelude.get("describeThrown")?,
            object_prototype: prelude.get("objectPrototype")?,
            is_array: prelude.get("isArray")?,
            plain: prelude.get("plain")?,
            well_formed: prelude.get("wellFormed")?,
            big_to_text: prelude.get("bigToText")?,
        })
    }

    /// Returns the function that answers a call.
    pub(super) fn settle<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, Error> {
        self.settle.clone().restore(ctx)
    }

    /// Returns the function that runs the evaluated program, and returns a promise of its value.
    pub(super) fn run<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, Error> {
        self.run.clone().restore(ctx)
    }

    /// Returns the function that describes what was thrown.
    pub(super) fn describe<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, Error> {
        self.describe.clone().restore(ctx)
    }

    /// Returns the functions that read values.
    pub(super) fn reader<'js>(&self, ctx: &Ctx<'js>) -> Result<ValueReader<'js>, Error> {
        Ok(ValueReader {
            object_prototype: self.object_prototype.clone().restore(ctx)?,
            is_array: self.is_array.clone().restore(ctx)?,
            plain: self.plain.clone().restore(ctx)?,
            well_formed: self.well_formed.clone().restore(ctx)?,
            big_to_text: self.big_to_text.clone().restore(ctx)?,
        })
    }
}

/// Calls a function with the functions of the prelude.
pub(super) fn with<T>(slot: &PreludeSlot, call: impl FnOnce(&Prelude) -> Result<T, Error>) -> Result<T, Error> {
    slot.borrow().as_ref().map_or(Err(Error::Unknown), call)
}
