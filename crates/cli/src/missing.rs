//! Commands and options of disabled features, whose errors contain the name of the feature.

use clap::{Arg, Command};

use crate::error::CommandError;
use crate::exit::Exit;

/// Returns the message for a disabled feature.
fn message(feature: &str) -> String {
    format!(
        "this program was built without the feature `{feature}` of `toolkit-cli`; \
         enable it in Cargo.toml: `toolkit-cli = {{ ..., features = [\"{feature}\"] }}`"
    )
}

/// Returns the error of a command or value that requires a feature.
pub(crate) fn feature(name: &'static str) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "missing_feature", message: message(name) }
}

/// Returns the option if its feature is enabled, and otherwise a hidden option of the same name that rejects every value.
pub(crate) fn unless(is_on: bool, feature: &'static str, arg: Arg) -> Arg {
    if is_on {
        return arg;
    }
    let name = arg.get_id().to_string();
    let absent = Arg::new(name.clone()).long(name).hide(true).num_args(0..=1).default_missing_value("");
    absent.value_parser(move |_: &str| Err::<String, _>(message(feature)))
}

/// Returns a hidden command that accepts any arguments; its `run` returns the error [`feature`].
pub(crate) fn command(name: &'static str) -> Command {
    let words = Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(name).hide(true).disable_help_flag(true).arg(words)
}
