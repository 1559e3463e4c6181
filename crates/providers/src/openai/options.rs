//! The options of the export.

/// The API that the tools are for.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::openai::{Interface, Options, describe};
///
/// let tool = Tool::builder("now").build()?;
/// let mut options = Options::default();
/// assert_eq!(options.interface, Interface::Responses);
/// assert_eq!(describe(&tool, "now", options).json["name"], "now");
/// options.interface = Interface::ChatCompletions;
/// assert_eq!(describe(&tool, "now", options).json["function"]["name"], "now");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interface {
    /// `POST /v1/chat/completions`: the function is nested under `function`.
    ChatCompletions,
    /// `POST /v1/responses`: the function is at the top level, always with `parameters` and `strict`.
    #[default]
    Responses,
}

/// Options of the export.
///
/// ```
/// use toolkit::{Catalog, Tool};
/// use toolkit::catalog::Naming;
/// use toolkit_providers::openai::{Options, tools};
///
/// let mail = |name| Tool::builder(name).namespace("mail").build();
/// let catalog = Catalog::new([mail("send")?, mail("list")?])?;
/// let export = tools(&catalog, Naming::NamespaceName, Options::responses().namespaced().deferred())?;
/// assert_eq!((&export.json[0]["type"], &export.json[0]["name"]), (&"namespace".into(), &"mail".into()));
/// assert_eq!(export.json[0]["tools"][0]["name"], "list");
/// assert_eq!(export.json[0]["tools"][0]["defer_loading"], true);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The API.
    pub interface: Interface,
    /// Requests strict mode for every tool for which it is possible.
    pub strict: bool,
    /// Sends the parameters of a tool to the model only after it has searched for the tool, with the search tool of the
    /// provider, which the export contains as its last tool (Responses only).
    pub defer_loading: bool,
    /// Groups the tools of each namespace (Responses only).
    pub namespaces: bool,
    /// Adds the schemas of results (Responses only), which the model reads with each request. Programs of the model need
    /// them. A tool whose result may be a text gets none, since a text is sent without quotes and is not JSON.
    pub output_schemas: bool,
    /// The maximum number of characters of a description, 1,024 for Azure and older models. Longer ones are cut.
    pub max_description: Option<usize>,
}

impl Options {
    /// Creates the options for Chat Completions.
    #[must_use]
    pub fn chat_completions() -> Self {
        Self { interface: Interface::ChatCompletions, ..Self::default() }
    }

    /// Creates the options for Responses.
    #[must_use]
    pub fn responses() -> Self {
        Self::default()
    }

    /// Requests strict mode for every tool for which it is possible.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Sends the parameters of a tool to the model only after it has searched for the tool.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { defer_loading: true, ..self }
    }

    /// Adds the schemas of results.
    #[must_use]
    pub fn with_output_schemas(self) -> Self {
        Self { output_schemas: true, ..self }
    }

    /// Groups the tools of each namespace under a name that the model reads once.
    #[must_use]
    pub fn namespaced(self) -> Self {
        Self { namespaces: true, ..self }
    }
}
