//! What a program was built without: each command and option names the feature that it needs.

use clap::{Arg, Command};

use crate::exit::Exit;
use crate::failure::Failure;

/// Why something is not there, and what to write.
fn message(feature: &str) -> String {
    format!(
        "this program was built without the feature `{feature}` of `toolkit-cli`; \
         enable it in Cargo.toml: `toolkit-cli = {{ ..., features = [\"{feature}\"] }}`"
    )
}

/// Returns the error of a command or a value that needs a feature.
pub(crate) fn feature(name: &'static str) -> Failure {
    Failure::Own { exit: Exit::Usage, kind: "missing_feature", message: message(name) }
}

/// Returns the option as it is if its feature is on; otherwise one of the same name that rejects every value.
pub(crate) fn unless(is_on: bool, feature: &'static str, arg: Arg) -> Arg {
    if is_on {
        return arg;
    }
    let name = arg.get_id().to_string();
    let absent = Arg::new(name.clone()).long(name).hide(true).num_args(0..=1).default_missing_value("");
    absent.value_parser(move |_: &str| Err::<String, _>(message(feature)))
}

/// Creates a hidden command that takes any words; what runs it returns [`feature`].
pub(crate) fn command(name: &'static str) -> Command {
    let words = Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(name).hide(true).disable_help_flag(true).arg(words)
}
