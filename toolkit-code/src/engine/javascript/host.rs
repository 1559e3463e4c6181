//! What a program gets from its host, and leaves for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Error, Exception, Object, Persistent, Value};
use serde_json::value::RawValue;

use super::super::{Call, Printed, Request, Shown};
use super::errors::Place;
use super::names::Names;
use super::value::{self, Purpose, Reader, WriteError};
use crate::limits::Limits;
use crate::program::Program;

/// The longest pause of `sleep`, in milliseconds: a day.
const MAX_SLEEP: f64 = 86_400_000.0;

/// The state that the functions of the prelude share with the engine.
pub(super) struct Host {
    limits: Limits,
    names: Names,
    /// The time as the program sees it, in milliseconds since 1970.
    pub(super) now: Cell<u64>,
    random: Cell<u64>,
    /// The requests since the last step.
    pub(super) calls: RefCell<Vec<Call>>,
    /// The requests without an answer, and their places.
    pub(super) waiting: RefCell<BTreeMap<u32, Waiting>>,
    /// The places of all calls that failed.
    pub(super) failed: RefCell<BTreeMap<u32, Failed>>,
    last_id: Cell<u32>,
    pub(super) printed: RefCell<Vec<Printed>>,
    output: Cell<u64>,
    /// The bytes of the output that were dropped.
    pub(super) dropped: Cell<u64>,
    pub(super) shown: RefCell<Vec<Shown>>,
}

/// A request without an answer.
pub(super) struct Waiting {
    pub(super) place: Option<Place>,
    pub(super) stack: String,
    /// True for a pause, which a program that has ended does not wait for.
    pub(super) is_pause: bool,
}

/// A call that failed.
pub(super) struct Failed {
    pub(super) place: Option<Place>,
    pub(super) tool: Option<String>,
    pub(super) is_over_limit: bool,
}

impl Host {
    pub(super) fn new(limits: Limits, program: &Program) -> Self {
        Self {
            limits,
            names: Names::new(program.functions.clone()),
            now: Cell::new(program.started_at),
            random: Cell::new(program.seed),
            calls: RefCell::default(),
            waiting: RefCell::default(),
            failed: RefCell::default(),
            last_id: Cell::new(0),
            printed: RefCell::default(),
            output: Cell::new(0),
            dropped: Cell::new(0),
            shown: RefCell::default(),
        }
    }

    /// Creates the object by which the prelude reaches the host. `reader` is set once the prelude was evaluated.
    pub(super) fn object<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        reader: &Rc<RefCell<Option<StoredReader>>>,
    ) -> Result<Object<'js>, Error> {
        let object = Object::new_proto(ctx.clone(), None)?;
        let host = Rc::clone(self);
        let stored = Rc::clone(reader);
        object.set(
            "request",
            Func::from(move |ctx: Ctx<'js>, kind: String, first: Value<'js>, second: Value<'js>, stack: Value<'js>| {
                let stack = stack.as_string().and_then(|stack| stack.to_string().ok()).unwrap_or_default();
                host.request(&ctx, &stored, &kind, &first, &second, stack)
            }),
        )?;
        let host = Rc::clone(self);
        let stored = Rc::clone(reader);
        object.set(
            "print",
            Func::from(move |ctx: Ctx<'js>, is_error: bool, values: Array<'js>| {
                host.print_values(&ctx, &stored, is_error, &values)
            }),
        )?;
        let host = Rc::clone(self);
        object.set("show", Func::from(move |ctx: Ctx<'js>, call: f64, block: f64| host.show(&ctx, call, block)))?;
        let host = Rc::clone(self);
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 milliseconds")]
        object.set("now", Func::from(move || host.now.get() as f64))?;
        let host = Rc::clone(self);
        object.set("random", Func::from(move || host.random()))?;
        let host = Rc::clone(self);
        object.set("tool", Func::from(move |path: String| host.names.tool(&path).map(str::to_owned)))?;
        let host = Rc::clone(self);
        object.set("exists", Func::from(move |path: String| host.names.exists(&path)))?;
        let host = Rc::clone(self);
        object.set("hasMembers", Func::from(move |path: String| host.names.has_members(&path)))?;
        let host = Rc::clone(self);
        object
            .set("names", Func::from(move |path: String| serde_json::json!(host.names.members(&path)).to_string()))?;
        let host = Rc::clone(self);
        object.set("unknown", Func::from(move |path: String| host.names.unknown(&path)))?;
        Ok(object)
    }

    fn request<'js>(
        &self,
        ctx: &Ctx<'js>,
        reader: &RefCell<Option<StoredReader>>,
        kind: &str,
        first: &Value<'js>,
        second: &Value<'js>,
        stack: String,
    ) -> Result<u32, Error> {
        let request = match kind {
            "tool" => {
                let id = first.get::<String>()?;
                let args = self.json(ctx, reader, second, "the arguments", "{}")?;
                Request::RunTool { id, args }
            }
            "chain" => Request::RunChain { steps: self.json(ctx, reader, first, "the steps", "[]")? },
            "search" => Request::SearchTools { query: first.get()?, limit: count(second) },
            "namespaces" => Request::ListNamespaces,
            "describe" => Request::DescribeTool { ids: ids(ctx, first)? },
            "examples" => Request::ListToolExamples { id: first.get()?, max: count(second) },
            _ => Request::Sleep { ms: milliseconds(first) },
        };
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let place = Place::in_stack(&stack);
        let is_pause = matches!(request, Request::Sleep { .. });
        self.calls.borrow_mut().push(Call { id, line: place.map(|place| place.line), request });
        self.waiting.borrow_mut().insert(id, Waiting { place, stack, is_pause });
        Ok(id)
    }

    /// Returns a value of the program as JSON, or throws a `TypeError`.
    fn json<'js>(
        &self,
        ctx: &Ctx<'js>,
        reader: &RefCell<Option<StoredReader>>,
        value: &Value<'js>,
        what: &str,
        default: &str,
    ) -> Result<Box<RawValue>, Error> {
        let limit = usize::try_from(self.limits.message_bytes).unwrap_or(usize::MAX);
        let text = if value.is_undefined() {
            default.to_owned()
        } else {
            let reader = restore(ctx, reader)?;
            match value::write(&reader, value, Purpose::Arguments, limit) {
                Ok(text) => text,
                Err(WriteError::Thrown) => return Err(Error::Exception),
                Err(WriteError::Rejected(_)) => return Err(Exception::throw_type(ctx, "a promise was rejected")),
                Err(WriteError::Invalid(path, reason)) => {
                    return Err(Exception::throw_type(ctx, &format!("{what} are not JSON: {path} is {reason}")));
                }
                Err(WriteError::TooLarge) => {
                    let message = format!("{what} exceed {limit} bytes of JSON: send less, or in several calls");
                    return Err(Exception::throw_range(ctx, &message));
                }
            }
        };
        RawValue::from_string(text).map_err(|error| Exception::throw_type(ctx, &error.to_string()))
    }

    fn print_values<'js>(
        &self,
        ctx: &Ctx<'js>,
        reader: &RefCell<Option<StoredReader>>,
        is_error: bool,
        values: &Array<'js>,
    ) -> Result<(), Error> {
        let reader = restore(ctx, reader)?;
        let mut text = String::new();
        for idx in 0..values.len() {
            let value: Value<'js> = values.get(idx)?;
            if idx > 0 {
                text.push(' ');
            }
            text.push_str(&self.line(&reader, &value)?);
        }
        self.print(is_error, text);
        Ok(())
    }

    /// Returns a value as it is printed.
    pub(super) fn line<'js>(&self, reader: &Reader<'js>, value: &Value<'js>) -> Result<String, Error> {
        let limit = usize::try_from(self.limits.message_bytes).unwrap_or(usize::MAX);
        if value.is_string() {
            return value::string_of(reader, value).map_err(|_| Error::Exception);
        }
        match value::write(reader, value, Purpose::Print, limit) {
            Ok(text) => Ok(text),
            Err(WriteError::TooLarge) => Ok(format!("[more than {limit} bytes]")),
            Err(_) => Err(Error::Exception),
        }
    }

    /// Keeps a line for the model, as far as the limit allows.
    pub(super) fn print(&self, is_error: bool, mut text: String) {
        let left = self.limits.output_bytes.saturating_sub(self.output.get());
        let size = text.len() as u64 + 1;
        self.output.set(self.output.get().saturating_add(size));
        if size > left {
            let kept = text.floor_char_boundary(usize::try_from(left).unwrap_or(usize::MAX));
            self.dropped.set(self.dropped.get().saturating_add((text.len() - kept) as u64));
            if kept == 0 {
                return;
            }
            text.truncate(kept);
        }
        self.printed.borrow_mut().push(Printed { is_error, text });
    }

    fn show(&self, ctx: &Ctx<'_>, call: f64, block: f64) -> Result<(), Error> {
        let last = f64::from(self.last_id.get());
        if !(call.fract() == 0.0 && (1.0..=last).contains(&call) && block.fract() == 0.0 && (0.0..1e6).contains(&block))
        {
            return Err(Exception::throw_type(ctx, "show takes the result of a tool, or a block of its content"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are small integers")]
        let shown = Shown { call: call as u32, block: block as u32 };
        let mut all = self.shown.borrow_mut();
        if !all.contains(&shown) && all.len() < 1024 {
            all.push(shown);
        }
        Ok(())
    }

    /// Returns a number from 0 to 1, of the sequence that the seed selects (SplitMix64).
    fn random(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let number = ((mixed ^ (mixed >> 31)) >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }
}

/// The functions of the prelude that values need, apart from the context.
pub(super) struct StoredReader {
    pub(super) plain: Persistent<rquickjs::Function<'static>>,
    pub(super) well_formed: Persistent<rquickjs::Function<'static>>,
    pub(super) big_to_text: Persistent<rquickjs::Function<'static>>,
}

/// Returns the functions of the prelude that values need.
pub(super) fn restore<'js>(ctx: &Ctx<'js>, stored: &RefCell<Option<StoredReader>>) -> Result<Reader<'js>, Error> {
    let stored = stored.borrow();
    let stored = stored.as_ref().ok_or(Error::Unknown)?;
    Ok(Reader {
        plain: stored.plain.clone().restore(ctx)?,
        well_formed: stored.well_formed.clone().restore(ctx)?,
        big_to_text: stored.big_to_text.clone().restore(ctx)?,
    })
}

fn count(value: &Value<'_>) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().filter(|number| *number >= 0.0).map(|number| number as u32)
}

fn milliseconds(value: &Value<'_>) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().map_or(0, |ms| ms.clamp(0.0, MAX_SLEEP) as u64)
}

/// Returns the ids in a list, and in lists inside it.
fn ids<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<String>, Error> {
    let invalid = || Exception::throw_type(ctx, "describe takes the ids of tools, as strings");
    let list = value.as_array().filter(|_| !value.is_proxy()).ok_or_else(invalid)?;
    let mut ids = Vec::new();
    for idx in 0..list.len() {
        let item: Value<'js> = list.get(idx)?;
        match item.as_array().filter(|_| !item.is_proxy()) {
            Some(inner) => {
                for idx in 0..inner.len() {
                    ids.push(inner.get::<Value<'js>>(idx)?.get::<String>().map_err(|_| invalid())?);
                }
            }
            None => ids.push(item.get::<String>().map_err(|_| invalid())?),
        }
    }
    Ok(ids)
}
