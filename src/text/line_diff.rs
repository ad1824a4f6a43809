//! A line diff of two texts. It contains the unchanged lines too, so both texts can be rebuilt from it.

use super::common_prefix_suffix::common_prefix_suffix;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// Maximum number of differing lines, in either text, that are searched for common lines. Beyond
/// it, all removed lines precede all added ones.
const ALIGNED_LINES_MAX: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    Same,
    Removed,
    Added,
}

/// The lines of both texts in order; common lines appear once. O(n · d) for d changes within
/// [`ALIGNED_LINES_MAX`] lines, otherwise O(n).
pub fn diff_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(LineChange, &'a str)> {
    // A common prefix and suffix need no search, however long they are.
    let (prefix, suffix) = common_prefix_suffix(old, new);
    let old_middle = &old[prefix..old.len() - suffix];
    let new_middle = &new[prefix..new.len() - suffix];
    let mut lines = Vec::with_capacity(old.len().max(new.len()));
    let unchanged = |line: &&'a str| (LineChange::Same, *line);
    lines.extend(old[..prefix].iter().map(unchanged));
    if old_middle.len().max(new_middle.len()) > ALIGNED_LINES_MAX {
        lines.extend(old_middle.iter().map(|line| (LineChange::Removed, *line)));
        lines.extend(new_middle.iter().map(|line| (LineChange::Added, *line)));
    } else {
        lines.extend(
            capture_diff_slices(Algorithm::Myers, old_middle, new_middle)
                .iter()
                .flat_map(|op| op.iter_changes(old_middle, new_middle))
                .map(|change| (LineChange::from(change.tag()), change.value())),
        );
    }
    lines.extend(old[old.len() - suffix..].iter().map(unchanged));
    lines
}

impl From<ChangeTag> for LineChange {
    fn from(tag: ChangeTag) -> Self {
        match tag {
            ChangeTag::Equal => Self::Same,
            ChangeTag::Delete => Self::Removed,
            ChangeTag::Insert => Self::Added,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_texts_can_be_rebuilt_from_the_diff(
            old in prop::collection::vec("[ab]{0,2}", 0..20),
            new in prop::collection::vec("[ab]{0,2}", 0..20),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let lines = diff_lines(&old, &new);
            let without = |change| {
                let kept = lines.iter().filter(move |line| line.0 != change);
                kept.map(|line| line.1).collect::<Vec<_>>()
            };
            prop_assert_eq!(without(LineChange::Added), old);
            prop_assert_eq!(without(LineChange::Removed), new);
        }
    }

    #[test]
    fn long_different_texts_are_not_aligned() {
        let old = vec!["a"; ALIGNED_LINES_MAX + 1];
        let new = vec!["b"; 2];
        let lines = diff_lines(&old, &new);
        assert_eq!(lines.len(), ALIGNED_LINES_MAX + 3);
        assert_eq!(lines[0].0, LineChange::Removed);
        assert_eq!(lines[ALIGNED_LINES_MAX + 1].0, LineChange::Added);
    }
}
