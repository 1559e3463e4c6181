//! The order of tools in lists.

use super::place::place;

/// The order of the tools of a segment in its lists: by length, and tools of equal length by id.
///
/// A word has the highest score in the shortest tools, so that a search finds the best tools early and can skip most of
/// the rest.
pub(crate) struct Order {
    /// The weighted number of words of each tool, in this order.
    pub(crate) lengths: Box<[u16]>,
    /// The tools, as positions in the order of the ids.
    pub(crate) tools: Box<[u32]>,
    /// The position of each tool in this order.
    pub(super) docs: Box<[u32]>,
}

impl Order {
    /// Orders tools by their lengths, which are in the order of the ids.
    pub(super) fn new(lengths: &[u16]) -> Self {
        let mut tools: Box<[u32]> = (0..place(lengths.len())).collect();
        tools.sort_by_key(|tool| lengths[*tool as usize]);
        let mut docs: Box<[u32]> = vec![0; lengths.len()].into();
        for (doc, tool) in tools.iter().enumerate() {
            docs[*tool as usize] = place(doc);
        }
        Self { lengths: tools.iter().map(|tool| lengths[*tool as usize]).collect(), tools, docs }
    }

    /// Returns the length of a tool.
    pub(crate) fn length_of(&self, tool: usize) -> u16 {
        self.lengths[self.docs[tool] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn tools_are_in_the_order_of_lengths_and_then_of_ids() {
        let order = Order::new(&[3, 9, 1, 3, 1]);
        assert_eq!(*order.tools, [2, 4, 0, 3, 1]);
        assert_eq!(*order.docs, [2, 4, 0, 3, 1]);
        assert_eq!(*order.lengths, [1, 1, 3, 3, 9]);
        assert_eq!(order.length_of(1), 9);
    }
}
