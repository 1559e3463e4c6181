//! The functions of the prelude.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Error, Function, Object, Persistent};

use super::value::Reader;

const PRELUDE: &str = include_str!("prelude.js");

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
pub(super) type Slot = Rc<RefCell<Option<Prelude>>>;

impl Prelude {
    /// Evaluates the prelude. It reaches the host by an object.
    pub(super) fn load<'js>(ctx: &Ctx<'js>, host: Object<'js>) -> Result<Self, Error> {
        let mut options = EvalOptions::default();
        options.filename = Some("prelude.js".to_owned());
        let prelude: Function<'js> = ctx.eval_with_options(PRELUDE, options)?;
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
    pub(super) fn reader<'js>(&self, ctx: &Ctx<'js>) -> Result<Reader<'js>, Error> {
        Ok(Reader {
            object_prototype: self.object_prototype.clone().restore(ctx)?,
            is_array: self.is_array.clone().restore(ctx)?,
            plain: self.plain.clone().restore(ctx)?,
            well_formed: self.well_formed.clone().restore(ctx)?,
            big_to_text: self.big_to_text.clone().restore(ctx)?,
        })
    }
}

/// Calls a function with the functions of the prelude.
pub(super) fn with<T>(slot: &Slot, call: impl FnOnce(&Prelude) -> Result<T, Error>) -> Result<T, Error> {
    slot.borrow().as_ref().map_or(Err(Error::Unknown), call)
}
