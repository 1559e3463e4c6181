//! From a tool to its definition.

use serde_json::Value;
use toolkit::Tool;
use toolkit::adapter::{Effect, Loss, Side, description, unsupported_fields};
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};

use super::schema::{describe_parameters, is_nothing, say_as_published, written_out};
use super::{AS_READ, Definition, Input, MAX_NAME_LEN, is_definition_name};
use crate::id::{OtcId, is_name, release};

/// What tools are called that have no namespace or no version, which an id in Open Tool Calling must have.
///
/// By default there is nothing to call them, and they are problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Naming {
    /// The toolkit of tools without a namespace: letters, digits and `_`.
    pub toolkit: Option<String>,
    /// The version of tools that have none: three numbers.
    pub version: Option<String>,
}

impl Definition {
    /// The definition of a tool.
    ///
    /// Its namespace is its toolkit; a `-` or a dot in either name becomes a `_`. Its title is its name, where a title
    /// can be one; otherwise that is `Toolkit_Tool`. Definitions in its schemas are written out where they are used. A
    /// tool or a parameter that nobody has described is described by its title or, failing that, by its name in words.
    /// A tool that promises nothing about its result may give any value, one that promises `null` gives nothing back.
    ///
    /// A function of this program is said as the published examples are: that it takes no other parameters than those
    /// it declares goes without saying, and `required` is there wherever there are parameters.
    ///
    /// A tool that was read from a definition, and is still that tool, has the definition that was read.
    ///
    /// # Errors
    ///
    /// It cannot be said: the tool has no namespace or no version and `naming` has none for it either, its version is
    /// more than three numbers, a schema contains itself, or no name has room.
    pub fn of(tool: &Tool, naming: &Naming) -> Result<Self, Diagnostics> {
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
        let mut parameters = written_out(tool.input().as_value()).map_err(|reason| wrong("input", reason))?;
        describe_parameters(&mut parameters);
        if tool.location().is_some() {
            say_as_published(&mut parameters);
        }
        let output_schema = match tool.output().map(|schema| schema.as_value()) {
            None if tool.gives_nothing() => None,
            None => Some(Default::default()),
            Some(schema) if is_nothing(schema) => None,
            Some(schema) => Some(written_out(schema).map_err(|reason| wrong("output", reason))?),
        };
        Ok(Self {
            name: name_of(tool, &id)?,
            description: match tool.description().trim() {
                "" if tool.deprecated().is_none() => tool.display_name().to_owned(),
                _ => description(tool),
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
    /// What it does not say of the tool that it is of.
    #[must_use]
    pub fn losses(&self, tool: &Tool) -> Vec<Loss> {
        let mut said = vec!["namespace", "version", "requirements", "outputSchema"];
        // Where it is the name there is nothing else to say, unless an annotation has another.
        if tool.title().is_none_or(|title| title == self.name) && tool.annotations().title.is_none() {
            said.push("title");
        }
        let keeps_only = |meta: &Value| meta.as_object().is_some_and(|meta| meta.keys().all(|key| key == AS_READ));
        if tool.meta().is_some_and(|meta| keeps_only(&meta)) {
            said.push("_meta");
        }
        let mut losses = unsupported_fields(tool, &said);
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
            let reason = "is not said; the tool refuses other parameters all the same";
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
        let message = "an id in Open Tool Calling has a toolkit of letters, digits and `_`, and the tool has no namespace \
                       for it; give it one, or say what to call it with `Naming::toolkit`";
        wrong(DiagnosticKind::InvalidName, message.to_owned())
    })?;
    let name = as_name(id.name());
    if !is_name(&name) {
        let message = "an id in Open Tool Calling has only letters, digits and `_`, and the tool's name has others";
        return Err(wrong(DiagnosticKind::InvalidName, message.to_owned()));
    }
    let version = match id.version() {
        Some(version) => release(version.strip_prefix('v').unwrap_or(version)),
        None => naming.version.as_deref().and_then(release),
    };
    let version = version.ok_or_else(|| {
        let message = match id.version() {
            Some(_) => "a version in Open Tool Calling is three numbers and nothing more, and the tool's is not",
            None => {
                "a tool in Open Tool Calling has a version, and this one has none; give it one, or say which it is \
                 with `Naming::version`"
            }
        };
        wrong(DiagnosticKind::InvalidVersion, message.to_owned())
    })?;
    Ok(OtcId::new(toolkit, name, Some(version)))
}

/// The name with `_` for what an id must not have.
fn as_name(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn name_of(tool: &Tool, id: &OtcId) -> Result<String, Diagnostics> {
    let names = [tool.title().map(str::to_owned), Some(id.default_name()), Some(id.tool().to_owned())];
    names.into_iter().flatten().find(|name| is_definition_name(name)).ok_or_else(|| {
        let message =
            format!("a name in Open Tool Calling has at most {MAX_NAME_LEN} characters, and the tool's has more");
        Diagnostic::new(DiagnosticKind::InvalidName, message, [tool]).into()
    })
}

impl Naming {
    /// These words in place of what a tool does not have.
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
