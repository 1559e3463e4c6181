//! A compact map from groups to numbers.

/// Numbers by group, all of them in one list.
pub(crate) struct Groups {
    /// The end of each group.
    ends: Box<[u32]>,
    items: Box<[u32]>,
}

impl Groups {
    /// Creates groups from pairs of a group and a number. The numbers of a group stay in their order.
    pub(super) fn from_pairs(n_groups: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut ends = vec![0_u32; n_groups];
        let mut n_items = 0;
        for (group, _) in pairs.clone() {
            ends[group as usize] += 1;
            n_items += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            // The start of the group for now; adding its numbers moves it to the end.
            start += std::mem::replace(end, start);
        }
        let mut items = vec![0; n_items];
        for (group, item) in pairs {
            let end = &mut ends[group as usize];
            items[*end as usize] = item;
            *end += 1;
        }
        Self { ends: ends.into(), items: items.into() }
    }

    #[inline]
    pub(crate) fn get(&self, group: u32) -> &[u32] {
        &self.items[self.range(group)]
    }

    /// Sorts each group.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(u32) -> K) {
        let mut start = 0;
        for &end in &self.ends {
            self.items[start..end as usize].sort_unstable_by_key(|item| key(*item));
            start = end as usize;
        }
    }

    #[inline]
    fn range(&self, group: u32) -> std::ops::Range<usize> {
        let start = if group == 0 { 0 } else { self.ends[group as usize - 1] };
        start as usize..self.ends[group as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn a_group_has_its_numbers_in_their_order() {
        let pairs = [(2, 9), (0, 7), (2, 1), (4, 5), (2, 4)];
        let mut groups = Groups::from_pairs(6, pairs.into_iter());
        let all = |groups: &Groups| (0..6).map(|group| groups.get(group).to_vec()).collect::<Vec<_>>();
        assert_eq!(all(&groups), [vec![7], vec![], vec![9, 1, 4], vec![], vec![5], vec![]]);

        groups.sort_by_key(|item| item);
        assert_eq!(all(&groups), [vec![7], vec![], vec![1, 4, 9], vec![], vec![5], vec![]]);
    }
}
