//! The servers of the unions of views that callers have, up to a number.

use std::collections::HashMap;
use std::sync::Arc;

use super::front::Front;

/// The servers, by the positions of their views. Each has the lists of its tools as text, so that their number is limited.
#[derive(Default)]
pub(super) struct Unions {
    open: HashMap<Vec<usize>, Union>,
    n_uses: u64,
}

struct Union {
    front: Front,
    /// The caller who has used it last, by whom it counts.
    caller: Box<str>,
    /// The number of the use.
    used: u64,
}

/// The maximum number of servers.
const MAX_UNIONS: usize = 256;

/// The maximum ratio of the servers of a caller to those that are left, as for the calls of a tool.
const SHARE: usize = 3;

impl Unions {
    pub(super) fn fronts(&self) -> impl Iterator<Item = &Front> {
        self.open.values().map(|union| &union.front)
    }

    /// Returns the server of some views, which this caller uses.
    pub(super) fn get(&mut self, views: &[usize], caller: &str) -> Option<&Front> {
        let union = self.open.get_mut(views)?;
        self.n_uses += 1;
        union.used = self.n_uses;
        if *union.caller != *caller {
            union.caller = caller.into();
        }
        Some(&union.front)
    }

    /// Adds a server. A caller adds one as long as it has fewer than three times the number that is left. Beyond that, one of
    /// its servers makes room, or if none is left, one of the caller with the most.
    pub(super) fn insert(&mut self, views: Vec<usize>, front: Front, caller: &str) {
        let n_left = MAX_UNIONS.saturating_sub(self.open.len());
        let most = self.open.values().map(|union| &union.caller).max_by_key(|caller| self.n_of(caller));
        match most.cloned() {
            Some(most) if n_left == 0 => self.make_room(&most),
            _ if self.n_of(caller) >= n_left.saturating_mul(SHARE) => self.make_room(caller),
            _ => {}
        }
        self.n_uses += 1;
        self.open.insert(views, Union { front, caller: caller.into(), used: self.n_uses });
    }

    /// Ends all servers.
    pub(super) fn clear(&mut self) {
        self.open.drain().for_each(|(_, union)| union.end());
    }

    fn n_of(&self, caller: &str) -> usize {
        self.open.values().filter(|union| *union.caller == *caller).count()
    }

    /// Ends the server of a caller that was not used for the longest time, at first one that nothing uses.
    fn make_room(&mut self, caller: &str) {
        let of_caller = self.open.iter().filter(|(_, union)| *union.caller == *caller);
        let ended = of_caller.min_by_key(|(_, union)| (union.is_used(), union.used)).map(|(views, _)| views.clone());
        ended.and_then(|views| self.open.remove(&views)).into_iter().for_each(Union::end);
    }
}

impl Union {
    /// Returns true if a call or a stream uses the server.
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.front.server.shared) > 1
    }

    /// Ends the streams of notifications, whose clients begin them again.
    fn end(self) {
        self.front.server.shared.regrouped.send_replace(());
    }
}
