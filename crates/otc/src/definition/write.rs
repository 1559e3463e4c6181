//! Conversion of a tool into a definition.

use serde_json::Value;
use toolkit::Tool;
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};
use toolkit_providers::{Effect, Loss, Side, unsupported_fields};

use super::read::{accepts_only_null, describe_parameters, inlined, match_published_style};
use super::{AS_READ, Definition, Input, MAX_NAME_LEN, is_definition_name};
use crate::definition::{OtcId, is_name, release};

/// Defaults for the parts of an id that a tool may lack: the toolkit and the version.
///
/// Without a default, a tool without a namespace or a version cannot be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Naming {
    /// The toolkit of tools without a namespace: letters, digits and `_`.
    pub toolkit: Option<String>,
    /// The version of tools without one: three numbers.
    pub version: Option<String>,
}

impl Definition {
    /// Converts a tool into a definition.
    ///
    /// - The namespace becomes the toolkit. `-` and `.` in names become `_`.
    /// - The title becomes the name if it is a valid one; otherwise the name is `Toolkit_Tool`.
    /// - Definitions in schemas are inlined.
    /// - A tool or a parameter without a description is described by its title or by its name in words.
    /// - A tool without an output schema may return any value. One whose output schema accepts only `null` returns
    ///   nothing.
    /// - The parameters of a function of this program are written like the published examples: without
    ///   `additionalProperties: false`, and with `required`, even if it is empty.
    ///
    /// A tool that was read from a definition, and has not changed, has that definition.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool lacks a namespace or a version without a default in `naming`, if its version is not
    /// three numbers, if a schema is recursive, or if its name is too long.
    pub fn from_tool(tool: &Tool, naming: &Naming) -> Result<Self, Diagnostics> {
        if let Some(read) = Self::as_read(tool) {
            return Ok(read);
        }
        let id = id_of(tool, naming)?;
        let wrong = |which: &str, reason: String| {
            Diagnostics::from(Diagnostic::new(
                DiagnosticKind::InvalidSchema,
                format!("its {which} schema {reason}"),
                [tool],
            ))
        };
        let mut parameters = inlined(tool.input().as_value()).map_err(|reason| wrong("input", reason))?;
        describe_parameters(&mut parameters);
        if tool.location().is_some() {
            match_published_style(&mut parameters);
        }
        let output_schema = match tool.output().map(|schema| schema.as_value()) {
            None if tool.returns_unit() => None,
            None => Some(Default::default()),
            Some(schema) if accepts_only_null(schema) => None,
            Some(schema) => Some(inlined(schema).map_err(|reason| wrong("output", reason))?),
        };
        Ok(Self {
            name: name_of(tool, &id)?,
            description: match tool.description().trim() {
                "" if tool.deprecated().is_none() => tool.display_name().to_owned(),
                _ => tool.full_description(),
            },
            version: id.version().map(ToString::to_string).unwrap_or_default(),
            input_schema: Input { parameters },
            output_schema,
            requirements: tool.requirements().into(),
            id,
        })
    }
}

impl Definition {
    /// Returns the properties of the tool that the definition does not have.
    #[must_use]
    pub fn losses(&self, tool: &Tool) -> Vec<Loss> {
        let mut supported = vec!["namespace", "version", "requirements", "outputSchema"];
        // A title that became the name is not lost, unless the annotations have another title.
        if tool.title().is_none_or(|title| title == self.name) && tool.annotations().title.is_none() {
            supported.push("title");
        }
        let keeps_only = |meta: &Value| meta.as_object().is_some_and(|meta| meta.keys().all(|key| key == AS_READ));
        if tool.meta().is_some_and(|meta| keeps_only(&meta)) {
            supported.push("_meta");
        }
        let mut losses = unsupported_fields(tool, &supported);
        if !tool.requirements().scopes.is_empty() {
            let reason = "are not written; Open Tool Calling has no tokens of callers with scopes";
            losses.push(Loss::new(Side::Record, "/requirements/scopes", "scopes", Effect::MetadataOnly, reason));
        }
        let parts = [
            ("name", Some(tool.name()), self.id.tool()),
            ("namespace", tool.id().namespace(), self.id.toolkit()),
            ("version", tool.id().version(), &self.version),
        ];
        for (field, part, written) in parts {
            if part.is_some_and(|part| part != written) {
                let reason = format!("is written as `{written}`");
                losses.push(Loss::new(Side::Record, format!("/{field}"), field, Effect::MetadataOnly, reason));
            }
        }
        if tool.location().is_some() && tool.input().as_value().get("additionalProperties") == Some(&false.into()) {
            let reason = "is not written; the tool rejects other parameters nevertheless";
            losses.push(Loss::new(Side::Input, "", "additionalProperties", Effect::Widened, reason));
        }
        losses
    }
}

fn id_of(tool: &Tool, naming: &Naming) -> Result<OtcId, Diagnostics> {
    let wrong = |kind, message: String| Diagnostics::from(Diagnostic::new(kind, message, [tool]));
    let id = tool.id();
    let toolkit = id.namespace().map(as_name).or_else(|| naming.toolkit.clone());
    let toolkit = toolkit.filter(|toolkit| is_name(toolkit)).ok_or_else(|| {
        let message = "an id in Open Tool Calling requires a toolkit of letters, digits and `_`, but the tool has no \
                       namespace; add one, or set `Naming::toolkit`";
        wrong(DiagnosticKind::InvalidName, message.to_owned())
    })?;
    let name = as_name(id.name());
    if !is_name(&name) {
        let message = "an id in Open Tool Calling allows only letters, digits and `_`, but the tool's name has others";
        return Err(wrong(DiagnosticKind::InvalidName, message.to_owned()));
    }
    let version = match id.version() {
        Some(version) => release(version.strip_prefix('v').unwrap_or(version)),
        None => naming.version.as_deref().and_then(release),
    };
    let version = version.ok_or_else(|| {
        let message = match id.version() {
            Some(_) => "a version in Open Tool Calling must be three numbers, but the tool's is not",
            None => {
                "an id in Open Tool Calling requires a version, but the tool has none; add one, or set \
                 `Naming::version`"
            }
        };
        wrong(DiagnosticKind::InvalidVersion, message.to_owned())
    })?;
    Ok(OtcId::new(toolkit, name, Some(version)))
}

/// Replaces the characters of a name that an id does not allow.
fn as_name(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn name_of(tool: &Tool, id: &OtcId) -> Result<String, Diagnostics> {
    let names = [tool.title().map(str::to_owned), Some(id.default_name()), Some(id.tool().to_owned())];
    names.into_iter().flatten().find(|name| is_definition_name(name)).ok_or_else(|| {
        let message =
            format!("a name in Open Tool Calling has at most {MAX_NAME_LEN} characters, but the tool's has more");
        Diagnostic::new(DiagnosticKind::InvalidName, message, [tool]).into()
    })
}

impl Naming {
    /// Creates a `Naming` with both defaults. `-` and `.` in the toolkit become `_`.
    ///
    /// # Examples
    ///
    ///
    /// ```
    /// # use toolkit_otc::Naming;
    /// assert_eq!(Naming::new("my-tools", "0.0.0").toolkit.as_deref(), Some("my_tools"));
    /// ```
    #[must_use]
    pub fn new(toolkit: &str, version: &str) -> Self {
        Self { toolkit: Some(as_name(toolkit)), version: Some(version.to_owned()) }
    }
}
