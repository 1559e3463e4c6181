//! The lint rule about names that the type of an argument accepts and its closed schema rejects.

use super::diagnostic::{LintDiagnostic, Rule};
use toolkit::Tool;
use toolkit_schema::explore::Unlisted;
use toolkit_schema::quoted;

pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    for (pointer, name) in tool.explored().unlisted {
        let message = match name {
            Unlisted::Field(name) => format!(
                "has the field or alias {}, which the schema does not list, so that it cannot be sent; write a \
                 `#[schemars(example = …)]` for the field, so that its aliases are recognized",
                quoted(name)
            ),
            Unlisted::Variant(name) => format!(
                "has the variant or alias {}, which the schema does not list, so that it cannot be sent; make it a \
                 separate variant, or remove it",
                quoted(name)
            ),
            Unlisted::OtherVariants => "has a variant with `#[serde(other)]`, but the schema rejects all unlisted \
                                        names; make it a variant that holds a `String`, or remove the attribute"
                .to_owned(),
        };
        diagnostics.push(LintDiagnostic::new(Rule::UnlistedName, tool, format!("arguments{pointer}"), message));
    }
}
