//! The unique ids of the elements of a page.

use std::collections::HashSet;

/// The ids that a page has used so far.
#[derive(Default)]
pub(super) struct Anchors {
    taken: HashSet<String>,
}

impl Anchors {
    /// Returns the id that the next call of [`Anchors::of`] with this name will return.
    pub(super) fn next(&self, name: &str) -> String {
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ':' | '/' => c.to_string(),
            c => format!("~{:x}", u32::from(c)),
        };
        let name: String = name.chars().map(plain).collect();
        let mut candidates = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}~{n}") });
        candidates.find(|id| !self.taken.contains(id) && !id.is_empty()).expect("there are infinitely many candidates")
    }

    /// Creates a unique id for `name`.
    pub(super) fn of(&mut self, name: &str) -> String {
        let id = self.next(name);
        self.taken.insert(id.clone());
        id
    }
}
