//! Changes of a host to a tool that stays callable: its name, its description, and arguments that are fixed.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use super::{Literal, Metadata, Text, Tool, ToolId};
use toolkit_schema::{Schema, quoted, suggest};

/// A tool with all of its arguments, and the values of those that are fixed.
#[derive(Debug)]
pub(crate) struct FixedArguments {
    pub(crate) whole: Tool,
    pub(crate) values: Map<String, Value>,
}

impl Tool {
    /// Renames the tool within its namespace. The earlier name is no alias. A function of this program stays callable; a
    /// [backend](crate::backend) knows its tools by their ids, and renames them itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Dispatcher, catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool(namespace = "math")]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let add = catalog![add]?.resolve("add")?.with_name("increase").with_argument_fixed("b", 1)?;
    /// let add = add.with_description("Adds one to an integer.");
    /// let dispatcher = Dispatcher::new(Catalog::new([add])?)?;
    /// assert_eq!(dispatcher.call_sync("math:increase", r#"{"a": 2}"#)?.value(), 3);
    /// assert!(dispatcher.call_sync("math:increase", r#"{"a": 2, "b": 2}"#).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_name(&self, name: impl Into<Text>) -> Self {
        let (namespace, version) = (self.id.namespace(), self.id.version());
        let id = ToolId::unchecked(
            namespace.map(|text| text.to_owned().into()),
            name.into(),
            version.map(|text| text.to_owned().into()),
        );
        self.adjusted(id, Arc::clone(self.shared_metadata()))
    }

    /// Replaces the description; see [`with_name`](Self::with_name) for an example.
    #[must_use]
    pub fn with_description(&self, description: impl Into<Text>) -> Self {
        let mut metadata = Arc::clone(self.shared_metadata());
        Arc::make_mut(&mut metadata).description = Some(description.into());
        self.adjusted(self.id.clone(), metadata)
    }

    /// Fixes an argument: callers neither see nor send it, and each call by name has this value. See
    /// [`with_name`](Self::with_name) for an example. A typed call of the program states all arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool has no such argument, or if its schema rejects the value.
    pub fn with_argument_fixed(&self, name: &str, value: impl Into<Value>) -> Result<Self, Diagnostics> {
        let value = value.into();
        let invalid =
            |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::InvalidDefault, message, [self]));
        let mut input = self.input().as_value().clone();
        let Some(property) = input.get("properties").and_then(|properties| properties.get(name)) else {
            let names = input.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
            let near = suggest::nearest(name, names.map(String::as_str));
            let near = near.map(|near| format!("; did you mean {}?", quoted(near))).unwrap_or_default();
            return Err(invalid(format!("the tool has no argument {}{near}", quoted(name))));
        };
        let mut part = property.clone();
        if let (Value::Object(part), Some(definitions)) = (&mut part, input.get("$defs")) {
            part.insert("$defs".to_owned(), definitions.clone());
        }
        if let Some(violation) = Schema::generated(part).first_violation(&value) {
            return Err(invalid(format!("the fixed value of {} {}", quoted(name), violation.rule)));
        }
        if let Some(Value::Object(properties)) = input.get_mut("properties") {
            properties.shift_remove(name);
        }
        if let Some(Value::Array(required)) = input.get_mut("required") {
            required.retain(|required| required != name);
        }
        let mut metadata = Metadata::clone(self.shared_metadata());
        for example in &mut metadata.examples {
            if let Ok(Value::Object(mut object)) = example.parse() {
                object.shift_remove(name);
                *example = Literal::Value(object.into());
            }
        }
        let mut fixed = self.adjusted(self.id.clone(), Arc::new(metadata));
        (fixed.input, fixed.sample) = (OnceLock::from(Arc::new(Schema::generated(input))), OnceLock::new());
        let mut values = self.fixed.as_ref().map(|fixed| fixed.values.clone()).unwrap_or_default();
        values.insert(name.to_owned(), value);
        let mut whole = self.whole().clone();
        // The example in an error is that of a call without the fixed arguments.
        whole.sample = OnceLock::from(fixed.input().example().map(|example| example.to_string().into()));
        fixed.fixed = Some(Arc::new(FixedArguments { whole, values }));
        Ok(fixed)
    }

    /// Returns the tool with its fixed arguments.
    pub(crate) fn whole(&self) -> &Self {
        self.fixed.as_ref().map_or(self, |fixed| &fixed.whole)
    }

    /// Changes the id and the metadata. A function stays callable.
    fn adjusted(&self, id: ToolId, metadata: Arc<Metadata>) -> Self {
        let (entry, instance) = (self.entry, self.instance.clone());
        let fixed = self.fixed.as_ref().map(|fixed| {
            let whole = fixed.whole.adjusted(id.clone(), Arc::clone(&metadata));
            Arc::new(FixedArguments { whole, values: fixed.values.clone() })
        });
        Self { entry, instance, fixed, ..self.described(id, metadata) }
    }
}
