//! The rules of providers: which tools they reject, and the limits of a request.

use std::io;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;
use toolkit::Catalog;
use toolkit_providers::Usage;

use crate::error::CommandError;
use crate::formats;
use crate::options::{naming, option, switch};

pub(super) fn options() -> [Arg; 2] {
    [
        option("provider", "FORMAT")
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(formats::of_providers()))
            .help("Check the rules and limits of this format of `export` only; may be repeated"),
        switch("limits")
            .help("Show the usage of the providers' limits, with strict mode for every tool that supports it"),
    ]
}

/// The usage of the limits of providers.
pub(super) struct ProviderLimits(Vec<Usage>);

impl ProviderLimits {
    pub(super) fn to_json(&self) -> io::Result<Value> {
        Ok(serde_json::to_value(&self.0)?)
    }

    pub(super) fn write(&self) -> io::Result<()> {
        formats::write_usages(&self.0)
    }
}

/// Returns a message for each tool that a provider rejects, and with `--limits` the usage of the limits.
pub(super) fn check(
    catalog: &Catalog,
    matches: &ArgMatches,
) -> Result<(Vec<String>, Option<ProviderLimits>), CommandError> {
    let rejected = formats::rejections(catalog, naming(matches), chosen(matches))?;
    let limits = match matches.get_flag("limits") {
        true => Some(ProviderLimits(formats::usages(catalog, naming(matches), chosen(matches))?)),
        false => None,
    };
    Ok((rejected, limits))
}

/// Returns the formats whose rules are checked: those of `--provider`, or else all.
fn chosen(matches: &ArgMatches) -> impl Iterator<Item = &'static str> {
    let chosen = matches.get_many::<String>("provider");
    formats::of_providers()
        .filter(move |format| chosen.clone().is_none_or(|mut chosen| chosen.any(|name| name == format)))
}
