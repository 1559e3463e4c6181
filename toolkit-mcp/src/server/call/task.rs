//! Calls that become tasks.

mod promotion;
mod runner;

pub(super) use self::promotion::Promotion;
pub(super) use self::runner::run;
