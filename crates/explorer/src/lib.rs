//! A page beside an MCP server, on which a person reads, searches and tries its tools and watches the calls of others.
//!
//! [`Explorer`] is a [`Route`](toolkit_mcp_server::Route) of the server: it is served at `/explorer` of the same port,
//! behind the same checks of host, origin, rate and token as the endpoint. The page itself is an MCP client of that
//! endpoint, so that filters, limits, scopes and approvals apply to it. [`RecentCalls`] is a layer of the dispatcher, which
//! records the calls that the page shows.
//!
//! ```no_run
//! use toolkit::{Catalog, Dispatcher};
//! use toolkit_explorer::{Explorer, RecentCalls};
//! use toolkit_mcp_server::Server;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let calls = RecentCalls::new();
//! let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(calls.clone()).build()?;
//! let explorer = Explorer::new("My tools").recent_calls(calls);
//! // A person opens http://127.0.0.1:8000/explorer.
//! Server::new(dispatcher)?.http().route(explorer).serve("127.0.0.1:8000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//!
//! - At an address that other machines can reach, the server does not start without a token, even with
//!   [`Http::allow_unauthenticated`](toolkit_mcp_server::Http::allow_unauthenticated).
//! - The files of the page are public; all data needs the token. The page keeps it in memory.
//! - A content security policy allows the scripts of the page and nothing else: no inline script, no markup from strings
//!   (trusted types), no other origin. The page writes texts of tools only as text.
//! - Requests that other web pages cause are rejected by `Sec-Fetch-Site`, and no response has CORS headers.
//! - An authenticated caller sees only its own calls, and arguments without the properties that a schema marks as secret.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `explorer` | the route, and the document without data |
//! | `assets` | the files of `web/`, and the headers of responses with the content security policy |
//! | `catalog` | the tools as data |
//! | `recent` | a layer that records calls, and streams them to the page |
//! | `web/` | the page as ES modules that are served as they are: `main` shows a `tool` or `recent` calls beside the `catalog`; `mcp` is the client of the endpoint, with `session` and `sse`; a `form` has a `slot` for each place of the arguments; `result`, `tree`, `prose` and `violations` render what the server returns, all with `dom`, which writes texts as text only |
#![forbid(unsafe_code)]

mod assets;
mod catalog;
mod explorer;
mod recent;

pub use self::explorer::Explorer;
pub use self::recent::RecentCalls;
