//! Common prefix and suffix of two slices.

/// The length of the common prefix of `old` and `new`, and of the common suffix of the remainders.
pub fn common_prefix_suffix<T: PartialEq>(old: &[T], new: &[T]) -> (usize, usize) {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (old[prefix..].iter().rev(), new[prefix..].iter().rev());
    let suffix = old.zip(new).take_while(|(a, b)| a == b).count();
    (prefix, suffix)
}
