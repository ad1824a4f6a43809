//! What two lists begin and end with alike.

/// How many items both begin with, and how many of the others both end with.
pub fn common_prefix_suffix<T: PartialEq>(old: &[T], new: &[T]) -> (usize, usize) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (old[head..].iter().rev(), new[head..].iter().rev());
    let tail = old.zip(new).take_while(|(a, b)| a == b).count();
    (head, tail)
}
