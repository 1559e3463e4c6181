//! The configuration of a program: its name, version, dispatcher and servers.

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;
#[cfg(feature = "proxy")]
use toolkit_backends::Backends;
#[cfg(feature = "http")]
use toolkit_mcp_server::Http;
#[cfg(feature = "mcp")]
use toolkit_mcp_server::ServerBuilder;

use crate::error::{CommandError, Configure, SetupError};
use crate::program_options::ProgramOptions;

/// Configures a program with the values of its options.
type ConfigureProgram = Box<dyn FnOnce(&ArgMatches, Program) -> Result<Program, CommandError>>;

/// A command-line program with all linked tools.
///
/// [`program!`](crate::program) creates one with the name, the version and the other metadata of the current package.
///
/// ```no_run
/// struct Db;
/// # impl Db { fn open() -> std::io::Result<Db> { Ok(Db) } }
///
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::program!()
///         .dispatcher(|dispatcher| Ok(dispatcher.state(Db::open()?)))
///         .server(|server| Ok(server.instructions("Dates are in UTC.")))
///         .main()
/// }
/// ```
#[must_use]
pub struct Program {
    pub(crate) name: String,
    /// `None` in a program that calls [`main`](crate::main).
    pub(crate) version: Option<String>,
    pub(crate) package: Package,
    pub(crate) options: Option<ProgramOptions>,
    /// Configures the program with the values of its options, until it has been done.
    pub(crate) configure: Option<ConfigureProgram>,
    pub(crate) catalog: Configure<Catalog>,
    pub(crate) dispatcher: Configure<DispatcherBuilder>,
    #[cfg(feature = "mcp")]
    pub(crate) server: Configure<ServerBuilder>,
    #[cfg(feature = "http")]
    pub(crate) http: Configure<Http>,
    #[cfg(feature = "proxy")]
    pub(crate) backends: Backends,
}

/// Creates a [`Program`] with the name, version, description, authors, license and repository of the current package.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::program!().main()
/// }
/// ```
#[macro_export]
macro_rules! program {
    () => {
        $crate::Program::new(
            // A package may have several binaries.
            ::core::option_env!("CARGO_BIN_NAME").unwrap_or(::core::env!("CARGO_PKG_NAME")),
            ::core::env!("CARGO_PKG_VERSION"),
        )
        .description(::core::option_env!("CARGO_PKG_DESCRIPTION").unwrap_or_default())
        .authors(::core::option_env!("CARGO_PKG_AUTHORS").unwrap_or_default())
        .license(::core::option_env!("CARGO_PKG_LICENSE").unwrap_or_default())
        .repository(::core::option_env!("CARGO_PKG_REPOSITORY").unwrap_or_default())
    };
}

impl Program {
    /// Creates a program with a name and a version, which `--version` prints and MCP clients receive.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..Self::named(name.into()) }
    }

    /// Creates a program whose version is unknown.
    pub(crate) fn named(name: String) -> Self {
        // A program of `run` and `serve --code` runs in a process that is this one, started again.
        #[cfg(feature = "code")]
        toolkit_code::worker::init();
        Self {
            name,
            version: None,
            package: Package::default(),
            options: None,
            configure: None,
            catalog: Box::new(Ok),
            dispatcher: Box::new(Ok),
            #[cfg(feature = "mcp")]
            server: Box::new(Ok),
            #[cfg(feature = "http")]
            http: Box::new(Ok),
            #[cfg(feature = "proxy")]
            backends: Backends::new(),
        }
    }

    /// Sets the description, which `bundle` publishes. An empty text removes it.
    ///
    /// ```
    /// let program = toolkit_cli::Program::new("calculator", "1.0.0")
    ///     .description("Adds integers")
    ///     .authors("Ada Lovelace <ada@example.com>")
    ///     .license("MIT")
    ///     .repository("https://github.com/ada/calculator");
    /// # drop(program);
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.package.description = given(description.into());
        self
    }

    /// Sets the authors, which are separated by `:`. `bundle` publishes the first one. An empty text removes them.
    pub fn authors(mut self, authors: impl Into<String>) -> Self {
        self.package.authors = given(authors.into());
        self
    }

    /// Sets the license, an SPDX expression, which `bundle` publishes. An empty text removes it.
    pub fn license(mut self, license: impl Into<String>) -> Self {
        self.package.license = given(license.into());
        self
    }

    /// Sets the URL of the source code, which `bundle` publishes. An empty text removes it.
    pub fn repository(mut self, url: impl Into<String>) -> Self {
        self.package.repository = given(url.into());
        self
    }

    /// Adds options to the command line, and configures the program with their values.
    ///
    /// The options stand before or after each command, and in its `--help`. A command that runs no tool, such as `list`, works
    /// without required ones, and the program is not configured by them then. An option that has a name of a command's option
    /// is an error of every start.
    ///
    /// `install` writes the given options into the entry of the client, and `bundle` asks the user for them: for a file or a
    /// directory if the value is a path, and for a secret if the option has `env` and `hide_env_values`, which is never part of
    /// a command line. Settings that the user leaves empty count as not given.
    ///
    /// ```no_run
    /// use std::path::PathBuf;
    ///
    /// struct Db;
    /// # impl Db { fn open(_: PathBuf) -> std::io::Result<Db> { Ok(Db) } }
    ///
    /// #[derive(clap::Args)]
    /// struct Options {
    ///     /// The file with the notes
    ///     #[arg(long, value_name = "FILE", default_value = "notes.db")]
    ///     db: PathBuf,
    /// }
    ///
    /// fn main() -> std::process::ExitCode {
    ///     toolkit_cli::program!()
    ///         .options(|options: Options, program| {
    ///             Ok(program.dispatcher(|dispatcher| Ok(dispatcher.state(Db::open(options.db)?))))
    ///         })
    ///         .main()
    /// }
    /// ```
    ///
    /// A later call replaces an earlier one.
    pub fn options<O: clap::Args>(
        mut self,
        configure: impl FnOnce(O, Program) -> Result<Program, SetupError> + 'static,
    ) -> Self {
        self.options = Some(ProgramOptions::new::<O>());
        self.configure = Some(Box::new(|matches, program| {
            configure(O::from_arg_matches(matches)?, program).map_err(CommandError::Setup)
        }));
        self
    }

    /// Configures the catalog of all linked tools, for example with instances of toolsets or additional tools.
    ///
    /// It applies to every command.
    ///
    /// ```no_run
    /// use toolkit::catalog::Instances;
    ///
    /// struct Jira;
    ///
    /// fn main() -> std::process::ExitCode {
    ///     let instances = Instances::new().with("jira_eu", Jira).with("jira_us", Jira);
    ///     toolkit_cli::program!().catalog(|catalog| Ok(catalog.with_instances(instances)?)).main()
    /// }
    /// ```
    ///
    /// A later call replaces an earlier one.
    pub fn catalog(mut self, configure: impl FnOnce(Catalog) -> Result<Catalog, SetupError> + 'static) -> Self {
        self.catalog = Box::new(configure);
        self
    }

    /// Configures the dispatcher: state, limits, layers and policies.
    ///
    /// The function runs in the context of a tokio runtime, and only for `call`, `serve` and `check`. The commands `list`,
    /// `search`, `show`, `export` and `cost` do not need it, so they work without a database connection, for example. They
    /// do not contain instances of toolsets that are added here; add instances with [`Program::catalog`].
    ///
    /// A later call replaces an earlier one.
    pub fn dispatcher(
        mut self,
        configure: impl FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> + 'static,
    ) -> Self {
        self.dispatcher = Box::new(configure);
        self
    }

    /// Configures the dispatcher like [`dispatcher`](Program::dispatcher), with a function that waits, for example for the
    /// connections to a database.
    ///
    /// ```no_run
    /// struct Pool;
    /// # impl Pool { async fn connect(_: &str) -> std::io::Result<Pool> { Ok(Pool) } }
    ///
    /// fn main() -> std::process::ExitCode {
    ///     toolkit_cli::program!()
    ///         .dispatcher_async(async |dispatcher| {
    ///             let url = std::env::var("DATABASE_URL")?;
    ///             Ok(dispatcher.state(Pool::connect(&url).await?))
    ///         })
    ///         .main()
    /// }
    /// ```
    ///
    /// A later call of one of the two replaces an earlier one.
    pub fn dispatcher_async(
        self,
        configure: impl AsyncFnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> + 'static,
    ) -> Self {
        // Called by a thread in the context of a runtime, and not by one of its tasks.
        self.dispatcher(move |builder| tokio::runtime::Handle::current().block_on(configure(builder)))
    }

    /// Configures the MCP server of `serve`: instructions, limits, filters and credentials.
    ///
    /// The builder has the name and version of the program. Flags of the command line take precedence.
    ///
    /// ```no_run
    /// use toolkit::resource::Resource;
    /// use toolkit_mcp_server::ResourceSet;
    ///
    /// fn main() -> std::process::ExitCode {
    ///     let units = Resource::new("help://units", "units").description("The units of all numbers");
    ///     let help = ResourceSet::new().with(units, "All lengths are in millimeters.");
    ///     toolkit_cli::program!()
    ///         .server(|server| Ok(server.instructions("Read help://units first.").resources(help)))
    ///         .main()
    /// }
    /// ```
    #[cfg(feature = "mcp")]
    pub fn server(
        mut self,
        configure: impl FnOnce(ServerBuilder) -> Result<ServerBuilder, SetupError> + 'static,
    ) -> Self {
        self.server = Box::new(configure);
        self
    }

    /// Configures the HTTP transport of `serve --http`: token verification, limits and origins.
    ///
    /// Flags of the command line take precedence.
    ///
    /// ```no_run
    /// fn main() -> std::process::ExitCode {
    ///     toolkit_cli::program!().http(|http| Ok(http.max_body_bytes(1 << 20))).main()
    /// }
    /// ```
    #[cfg(feature = "http")]
    pub fn http(mut self, configure: impl FnOnce(Http) -> Result<Http, SetupError> + 'static) -> Self {
        self.http = Box::new(configure);
        self
    }

    /// Sets backends whose tools `serve` offers in addition to those of the program and of `--proxy`. With `--nats-tools`,
    /// the workers offer the tools of the program.
    #[cfg(feature = "proxy")]
    pub fn backends(mut self, backends: Backends) -> Self {
        self.backends = backends;
        self
    }
}

/// The metadata of the package of a program, as in its Cargo.toml, which `bundle` publishes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "bundle"), allow(dead_code))]
pub(crate) struct Package {
    pub(crate) description: Option<String>,
    /// Separated by `:`, as cargo passes them on.
    pub(crate) authors: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
}

#[cfg_attr(not(feature = "bundle"), allow(dead_code))]
impl Package {
    /// Returns the first author: the name, and the email address in angle brackets.
    pub(crate) fn author(&self) -> Option<&str> {
        self.authors.as_deref()?.split(':').next()
    }
}

/// Returns `None` for the empty text, which cargo passes on for a missing field.
fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.trim().is_empty())
}
