//! The hosts and their limits.

/// A program that connects to MCP servers, and its limits.
///
/// ```
/// use toolkit_contract::hosts::{Host, Limited};
///
/// let cursor = Host::named("cursor").unwrap();
/// assert_eq!(cursor.title, "Cursor");
/// let tools = cursor.limits.iter().find(|limit| limit.limited == Limited::Tools).unwrap();
/// assert_eq!(tools.max, 80);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Host {
    /// The name for options, such as `claude-code`.
    pub name: &'static str,
    /// The name for readers.
    pub title: &'static str,
    /// The limits.
    pub limits: &'static [HostLimit],
}

/// A limit of a [`Host`], with its source.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostLimit {
    /// The limited property of tools.
    pub limited: Limited,
    /// The greatest number that has no effect, in the unit of [`Limited`].
    pub max: usize,
    /// The reaction of the host above the limit, such as `leaves the tool out`.
    pub effect: &'static str,
    /// A report or document that states the limit.
    pub source: &'static str,
    /// The date of the source, or of the day on which it was read.
    pub date: &'static str,
}

/// The subject of a [`HostLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// The characters of a name that the host makes of those of the server and the tool. The text is a template with
    /// `{server}` and `{tool}`; `{server:13}` is cut after so many characters.
    Name(&'static str),
    /// The number of tools of all servers.
    Tools,
    /// The characters of the description of a tool.
    Description,
    /// The characters of the instructions of a server.
    Instructions,
    /// The characters of a result without pictures.
    Result,
    /// The characters of the text of an error.
    Error,
    /// The seconds that the host waits for the start of a server, unless its user changes that.
    Start,
    /// The seconds that the host waits for a call, unless its user changes that.
    Timeout,
}

/// Declares hosts, with a row for each limit: what is limited, the limit, what the host does above it, the source, the date.
macro_rules! hosts {
    ($($name:literal $title:literal { $($limited:expr, $max:literal, $effect:literal, $source:literal, $date:literal;)* })*) => {
        /// All hosts, in the order in which they are documented.
        static HOSTS: &[&Host] = &[$(&Host {
            name: $name,
            title: $title,
            limits: &[$(HostLimit { limited: $limited, max: $max, effect: $effect, source: $source, date: $date }),*],
        }),*];
    };
}

hosts! {
    "claude-code" "Claude Code" {
        Limited::Name("mcp__{server}__{tool}"), 128, "leaves the tool out",
            "https://github.com/anthropics/claude-code/issues/16425", "2026-10";
        Limited::Description, 2_048, "cuts the description",
            "https://github.com/anthropics/claude-code/issues/87650", "2026-08-18";
        Limited::Instructions, 2_048, "cuts them",
            "https://github.com/anthropics/claude-code/issues/81268", "2026-07-26";
        Limited::Result, 50_000, "saves the result to a file",
            "https://qiita.com/akihidem/items/32e331a9cbe0abf3af11", "2026-10-05";
        Limited::Error, 11_000, "cuts the text",
            "https://qiita.com/akihidem/items/32e331a9cbe0abf3af11", "2026-10-05";
    }
    "claude-desktop" "Claude Desktop" {
        Limited::Timeout, 60, "stops waiting",
            "https://github.com/anthropics/claude-code/issues/22542", "2026-11-29";
    }
    "cursor" "Cursor" {
        Limited::Name("{server}{tool}"), 59, "leaves the tool out",
            "https://github.com/ComposioHQ/composio/issues/2788", "2026-02-27";
        Limited::Tools, 80, "leaves some out",
            "https://github.com/DaxianLee/cocos-mcp-server/issues/11", "2026-02-06";
    }
    "vscode" "VS Code" {
        Limited::Name("mcp_{server:13}_{tool}"), 64, "cuts the name",
            "https://github.com/microsoft/vscode/issues/243602", "2026-11-29";
        Limited::Tools, 128, "rejects the request",
            "https://github.com/microsoft/vscode/issues/337428", "2026-09";
    }
    "copilot-cli" "Copilot CLI" {
        Limited::Name("{server}-{tool}"), 64, "sends requests that some models reject",
            "https://github.com/microsoft/mcp/issues/842", "2025-10-16";
        Limited::Timeout, 60, "stops waiting",
            "https://github.com/github/copilot-cli/issues/1535", "2026-02-19";
    }
    "codex" "Codex" {
        Limited::Name("mcp__{server}__{tool}"), 64, "replaces the end of the name by a hash",
            "https://github.com/openai/codex/blob/main/codex-rs/core/src/mcp_connection_manager.rs", "2026-11-29";
        Limited::Start, 10, "stops waiting",
            "https://github.com/openai/codex/issues/11851", "2026-11-29";
        Limited::Timeout, 60, "stops waiting",
            "https://zuplo.com/learn/mcp/compatibility/clients/codex-cli", "2026-07-31";
    }
    "gemini-cli" "Gemini CLI" {
        Limited::Name("mcp_{server}_{tool}"), 64, "cuts the name",
            "https://zuplo.com/learn/mcp/compatibility/clients/gemini-cli", "2026-07-31";
    }
    "windsurf" "Windsurf" {
        Limited::Tools, 100, "refuses the server",
            "https://github.com/DaxianLee/cocos-mcp-server/issues/11", "2026-02-06";
    }
    "zed" "Zed" {
        Limited::Name("{tool}"), 64, "cuts the name",
            "https://github.com/zed-industries/zed/blob/main/crates/agent/src/thread.rs", "2026-11-29";
        Limited::Timeout, 60, "stops waiting",
            "https://github.com/zed-industries/zed/pull/45378", "2025-12-19";
    }
    "chatgpt" "ChatGPT" {
        Limited::Tools, 128, "leaves some out",
            "https://docs.cinatra.ai/mcp/clients/chatgpt-connectors/", "2026-11-29";
    }
}

impl Host {
    /// All hosts whose limits are known.
    pub const ALL: &[&'static Self] = HOSTS;

    /// Returns the host of a name for options.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|host| host.name == name)
    }
}

/// Makes the name that a host shows to a model, by the template of its limit.
pub(super) fn listed_name(template: &str, server: &str, tool: &str) -> String {
    let cut: String = server.chars().take(13).collect();
    template.replace("{server:13}", &cut).replace("{server}", server).replace("{tool}", tool)
}
