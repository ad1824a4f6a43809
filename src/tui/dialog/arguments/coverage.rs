//! Which parts of a text have been drawn. Parts are byte ranges, because row numbers change with
//! the width.

use std::ops::Range;

#[derive(Debug, Clone, Default)]
pub struct Coverage {
    len: usize,
    /// The drawn ranges, sorted and disjoint.
    drawn: Vec<Range<usize>>,
}

impl Coverage {
    pub fn new(len: usize) -> Self {
        Self {
            len,
            drawn: Vec::new(),
        }
    }

    pub fn add(&mut self, mut part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        let at = self.drawn.partition_point(|old| old.end < part.start);
        while let Some(old) = self.drawn.get(at).filter(|old| old.start <= part.end) {
            part = part.start.min(old.start)..part.end.max(old.end);
            self.drawn.remove(at);
        }
        self.drawn.insert(at, part);
    }

    /// The first byte that has not been drawn.
    pub fn first_gap(&self) -> Option<usize> {
        let first = match self.drawn.first() {
            Some(first) if first.start == 0 => first.end,
            _ => 0,
        };
        (first < self.len).then_some(first)
    }

    /// Number of rows that are not fully drawn; `starts` holds the byte at which each row begins.
    pub fn rows_with_gaps(&self, starts: &[usize]) -> usize {
        let mut rows = 0;
        let mut counted = 0;
        let mut from = 0;
        let end = self.len..self.len;
        for drawn in self.drawn.iter().cloned().chain(std::iter::once(end)) {
            if from < drawn.start {
                let first = starts.partition_point(|at| *at <= from).saturating_sub(1);
                let end = starts.partition_point(|at| *at < drawn.start);
                rows += end.saturating_sub(first.max(counted));
                counted = end;
            }
            from = drawn.end;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn undrawn_parts_are_tracked_across_widths(
            steps in prop::collection::vec((5usize..30, 0usize..40, 1usize..12), 0..12),
        ) {
            const LEN: usize = 397;
            let mut coverage = Coverage::new(LEN);
            let mut seen = [false; LEN];
            for (columns, first, count) in steps {
                let starts: Vec<usize> = (0..LEN).step_by(columns).collect();
                let start = |row: usize| starts.get(row).copied().unwrap_or(LEN);
                let part = start(first)..start(first + count);
                seen[part.clone()].fill(true);
                coverage.add(part);
                prop_assert_eq!(coverage.first_gap(), seen.iter().position(|seen| !seen));
                let has_gap = |row: &usize| seen[start(*row)..start(row + 1)].contains(&false);
                let expected = (0..starts.len()).filter(has_gap).count();
                prop_assert_eq!(coverage.rows_with_gaps(&starts), expected);
            }
        }
    }
}
