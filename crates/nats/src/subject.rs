//! The subjects of calls, control messages, definitions and events. `worker::incoming` and `worker::discovery` subscribe to
//! them.

use toolkit::tool::ToolId;

/// The subjects with one prefix.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    prefix: String,
}

/// The prefix of subjects unless the host sets another.
pub(crate) const PREFIX: &str = "tk";

/// The name of workers among the services of a NATS server.
pub(crate) const SERVICE: &str = "toolkit";

impl Subjects {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// Returns the prefix of the subjects of calls to one toolset, with a dot at the end.
    pub(crate) fn calls_prefix(&self, digest: &str) -> String {
        format!("{}.call.{digest}.", self.prefix)
    }

    /// Returns the subject of all calls to one toolset.
    pub(crate) fn calls(&self, digest: &str) -> String {
        format!("{}>", self.calls_prefix(digest))
    }

    /// Returns the subject of calls to one tool.
    pub(crate) fn call(&self, digest: &str, tool: &str) -> String {
        format!("{}{tool}", self.calls_prefix(digest))
    }

    /// Returns the subject on which the definitions of a toolset are requested.
    pub(crate) fn tools(&self, digest: &str) -> String {
        format!("{}.tools.{digest}", self.prefix)
    }

    pub(crate) fn join(&self) -> String {
        format!("{}.event.join", self.prefix)
    }

    pub(crate) fn leave(&self) -> String {
        format!("{}.event.leave", self.prefix)
    }

    pub(crate) fn events(&self) -> String {
        format!("{}.event.*", self.prefix)
    }

    /// Returns the subject on which a worker receives messages about one of its calls.
    pub(crate) fn control(&self, instance: &str, call: &str) -> String {
        format!("{}.ctl.{instance}.{call}", self.prefix)
    }

    /// Returns the subject of all messages about calls of a worker.
    pub(crate) fn controls(&self, instance: &str) -> String {
        self.control(instance, "*")
    }

    /// Returns the name of the bucket for bodies that do not fit into a message.
    pub(crate) fn bodies(&self) -> String {
        format!("{}-bodies", self.bucket_prefix())
    }

    /// Returns true if a bucket is one for bodies, of all users or of one.
    pub(crate) fn is_bodies(&self, bucket: &str) -> bool {
        let rest = bucket.strip_prefix(&*self.bodies());
        is_bucket(bucket) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Returns true if a bucket for bodies is that of all users, or of the caller who receives the replies in this inbox.
    pub(crate) fn is_bodies_of(&self, bucket: &str, reply: Option<&str>) -> bool {
        let name = bucket.strip_prefix(&*self.bodies()).and_then(|rest| rest.strip_prefix('-'));
        name.is_none_or(|name| reply.is_some_and(|reply| reply.split('.').any(|token| token == name)))
    }

    /// Returns the name of the bucket for claimed calls.
    pub(crate) fn claims(&self) -> String {
        format!("{}-calls", self.bucket_prefix())
    }

    /// Returns the prefix in the form of the name of a bucket, which has no dots.
    fn bucket_prefix(&self) -> String {
        self.prefix.replace('.', "_")
    }

    /// Returns true if a worker may reply to this subject: none of the protocol itself, nor of the server.
    pub(crate) fn is_reply(&self, subject: &str) -> bool {
        let is_own = subject.strip_prefix(&*self.prefix).is_some_and(|rest| rest.starts_with('.'));
        is_publishable(subject) && !is_own && !subject.starts_with('$')
    }

    /// Returns true if this is the subject of messages about a call.
    pub(crate) fn is_control(&self, subject: &str) -> bool {
        let rest = subject.strip_prefix(&*self.prefix).and_then(|rest| rest.strip_prefix(".ctl."));
        rest.is_some_and(|rest| rest.split('.').count() == 2 && !rest.contains(['*', '>', ' ']))
    }
}

/// Returns the last three tokens of the subject of a tool: its namespace, name and version. Different tools have different
/// tokens.
pub(crate) fn tool_tokens(id: &ToolId) -> String {
    let namespace = namespace_token(id.namespace());
    let version = id.version().map_or_else(
        || "_".to_owned(),
        |version| version.split('.').map(|part| token(part).replace('_', "%5F")).collect::<Vec<_>>().join("_"),
    );
    format!("{namespace}.{}.{version}", token(id.name()))
}

/// Returns the token of a namespace in subjects.
pub(crate) fn namespace_token(namespace: Option<&str>) -> String {
    match namespace {
        None => "_".to_owned(),
        Some("_") => "%5F".to_owned(),
        Some(namespace) => token(namespace),
    }
}

/// Escapes the characters that have a meaning in subjects.
fn token(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => token.push(byte.into()),
            byte => token.push_str(&format!("%{byte:02X}")),
        }
    }
    token
}

/// Returns true if a text is the name of a bucket.
pub(crate) fn is_bucket(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.len() <= 128 && text.bytes().all(is_allowed)
}

/// Returns true if a text is a single token without wildcards.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the user to whom the inbox of a reply belongs, or the caller in the inbox of all users.
pub(crate) fn caller_of(reply: &str) -> &str {
    match reply.split_once(".tk.") {
        Some((user, _)) if user != "_INBOX" => user,
        _ => reply.rsplit_once('.').map_or(reply, |(inbox, _)| inbox),
    }
}

/// Returns true if a text is a subject to which messages can be published.
fn is_publishable(subject: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !['*', '>'].contains(&c);
    subject.len() <= 256 && subject.chars().all(is_plain) && subject.split('.').all(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_tools_have_different_tokens() {
        let ids =
            ["add", "_:add", "a:b", "a.b:c", "math:add", "math:add:1.0.0", "math:add:1_0.0", "math:add:_", "a:b:ü *>"];
        let ids = ids.map(|id| id.parse::<ToolId>().unwrap());
        let tokens: std::collections::BTreeSet<String> = ids.iter().map(tool_tokens).collect();
        assert_eq!(tokens.len(), ids.len(), "{tokens:?}");
        assert!(tokens.iter().all(|tokens| tokens.split('.').count() == 3), "{tokens:?}");
        assert!(tokens.contains("math.add.1_0_0") && tokens.contains("_.add._"), "{tokens:?}");
        assert!(!tokens.iter().any(|tokens| tokens.contains([' ', '*', '>'])), "{tokens:?}");
    }

    #[test]
    fn messages_are_published_to_subjects_without_wildcards() {
        assert!(is_publishable("_INBOX.tk.0123.7"));
        for other in ["", ".", "a..b", "a.*", "a.>", "a b", "a\r\nPUB x 0", "ü", &"a".repeat(300)] {
            assert!(!is_publishable(other), "{other}");
        }
    }

    #[test]
    fn a_caller_is_the_user_of_its_inbox_or_the_inbox() {
        let callers = ["_INBOX.alice.tk.c1.7", "_INBOX.alice.tk.c2.8", "_INBOX.tk.c1.7", "other.7", "other"];
        let expected = ["_INBOX.alice", "_INBOX.alice", "_INBOX.tk.c1", "other", "other"];
        assert_eq!(callers.map(caller_of), expected);
    }

    #[test]
    fn a_worker_replies_to_no_subject_of_the_protocol() {
        let subjects = Subjects::new("tk");
        assert!(subjects.is_reply("_INBOX.a.1") && subjects.is_reply("tkx.a"));
        for other in ["tk.event.leave", "tk.ctl.a.b", "$SRV.PING", "$JS.API.x", "a.*"] {
            assert!(!subjects.is_reply(other), "{other}");
        }
    }

    #[test]
    fn only_buckets_for_bodies_are_used_for_bodies() {
        let subjects = Subjects::new("tk.eu");
        assert_eq!((subjects.bodies(), subjects.claims()), ("tk_eu-bodies".to_owned(), "tk_eu-calls".to_owned()));
        assert!(subjects.is_bodies("tk_eu-bodies") && subjects.is_bodies("tk_eu-bodies-alice"));
        for other in ["tk_eu-calls", "tk_eu-bodiesx", "tk_eu-bodies-a.b", "tk_eu-bodies->", "tk_eu-bodies-a b", ""] {
            assert!(!subjects.is_bodies(other), "{other}");
        }
    }

    #[test]
    fn only_subjects_of_one_call_are_controls() {
        let subjects = Subjects::new("tk");
        assert!(subjects.is_control(&subjects.control("a", "b")));
        for other in ["tk.ctl.a", "tk.ctl.a.b.c", "tk.ctl.a.*", "tk.ctl.>", "tk.call.a.b", "x.ctl.a.b", "tk.ctl.a.b c"]
        {
            assert!(!subjects.is_control(other), "{other}");
        }
    }
}
