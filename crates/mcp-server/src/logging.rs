//! Log messages of tools for clients.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::call::{LogLevel, LogMessage};
use toolkit_mcp::{RpcError, json_bytes, notification, parse_level};
use toolkit_runtime::Mutex;

/// The number of sessions whose levels are remembered.
const MAX_SESSIONS: usize = 4096;

/// The number of messages of a call per second, beyond which messages are dropped.
const MAX_PER_SECOND: u32 = 100;

/// The size of a message in bytes, beyond which its data is omitted.
const MAX_BYTES: usize = 16 << 10;

/// The levels that clients before 2026-07-28 have set with `logging/setLevel`, by session.
#[derive(Debug, Default)]
pub(super) struct LogLevels(Mutex<Levels>);

#[derive(Debug, Default)]
struct Levels {
    by_session: HashMap<Box<str>, LogLevel>,
    /// The sessions of each caller in the order in which they were added.
    of_caller: HashMap<Option<Box<str>>, VecDeque<Box<str>>>,
}

impl LogLevels {
    pub(super) fn get(&self, session: &str) -> Option<LogLevel> {
        self.0.lock().by_session.get(session).copied()
    }

    /// Sets the level of a session. If there are too many sessions, the caller with the most of them loses its oldest
    /// one, since a client can make up sessions.
    pub(super) fn set(&self, caller: Option<&str>, session: &str, level: LogLevel) {
        let mut levels = self.0.lock();
        if levels.by_session.insert(session.into(), level).is_none() {
            levels.of_caller.entry(caller.map(Into::into)).or_default().push_back(session.into());
        }
        if levels.by_session.len() > MAX_SESSIONS
            && let Some(sessions) = levels.of_caller.values_mut().max_by_key(|sessions| sessions.len())
            && let Some(oldest) = sessions.pop_front()
        {
            levels.by_session.remove(&oldest);
        }
    }

    pub(super) fn end(&self, session: &str) {
        let mut levels = self.0.lock();
        if levels.by_session.remove(session).is_some() {
            levels.of_caller.retain(|_, sessions| {
                sessions.retain(|other| **other != *session);
                !sessions.is_empty()
            });
        }
    }
}

/// Reads the parameters of `logging/setLevel`.
pub(super) fn requested_level(params: Option<&RawValue>) -> Result<LogLevel, RpcError> {
    #[derive(Default, Deserialize)]
    struct LevelParams<'m> {
        #[serde(borrow)]
        level: Option<&'m RawValue>,
    }
    let params: LevelParams<'_> = params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    params.level.map_or_else(|| parse_level("level", ""), |level| parse_level("level", level.get()))
}

/// The log of one call, which bounds the rate and the size of its messages.
pub(super) struct CallLog {
    tool: String,
    second: Mutex<(Instant, u32)>,
}

impl CallLog {
    pub(super) fn new(tool: &str) -> Self {
        Self { tool: tool.to_owned(), second: Mutex::new((Instant::now(), 0)) }
    }

    /// Returns the notification of a message, or `None` if there are too many.
    pub(super) fn notification(&self, message: &LogMessage) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct MessageParams<'p> {
            level: &'static str,
            logger: &'p str,
            data: &'p Value,
        }
        {
            let mut second = self.second.lock();
            if second.0.elapsed() >= Duration::from_secs(1) {
                *second = (Instant::now(), 0);
            }
            second.1 += 1;
            if second.1 > MAX_PER_SECOND {
                return None;
            }
        }
        let written = |data: &Value| {
            let logger = message.logger.as_deref().unwrap_or(&self.tool);
            notification("notifications/message", &MessageParams { level: message.level.name(), logger, data })
        };
        let n_bytes = json_bytes(&message.data).len();
        Some(match n_bytes > MAX_BYTES {
            true => written(&format!("a log message of {n_bytes} bytes is omitted").into()),
            false => written(&message.data),
        })
    }
}
