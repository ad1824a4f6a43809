//! Keyword tables, hashed at compile time, so a lookup takes one pass over the word and about one
//! comparison.

/// The kind of a word in a table, and its effect on the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordKind {
    Keyword,
    /// A keyword such as `fn`, followed by a function name.
    NamesFunction,
    /// A keyword such as `struct`, followed by a type name.
    NamesType,
    /// A shell keyword such as `for`, not followed by a command.
    TakesOperands,
    Constant,
    Type,
    Function,
}

pub(super) type KeywordSlot = Option<(&'static str, KeywordKind)>;

/// Longer words are not looked up.
const WORD_BYTES_MAX: usize = 32;

/// Builds a table from lists of words separated by spaces, as in
/// `words!(Keyword: "if else", Type: "int")`.
macro_rules! words {
    ($($kind:ident: $list:expr),* $(,)?) => {{
        const LISTS: &[($crate::text::highlight::keywords::KeywordKind, &str)] =
            &[$(($crate::text::highlight::keywords::KeywordKind::$kind, $list)),*];
        const SLOTS: usize = $crate::text::highlight::keywords::slot_count(LISTS);
        const TABLE: [$crate::text::highlight::keywords::KeywordSlot; SLOTS] =
            $crate::text::highlight::keywords::build_table(LISTS);
        &TABLE
    }};
}
pub(super) use words;

/// Number of slots for the words of `lists`: a power of two, at least twice the number of words.
pub(super) const fn slot_count(lists: &[(KeywordKind, &str)]) -> usize {
    let mut count = 0;
    let mut list_index = 0;
    while list_index < lists.len() {
        let bytes = lists[list_index].1.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            let is_word_start = bytes[index] != b' ' && (index == 0 || bytes[index - 1] == b' ');
            count += is_word_start as usize;
            index += 1;
        }
        list_index += 1;
    }
    (count * 2).next_power_of_two()
}

pub(super) const fn build_table<const SLOTS: usize>(
    lists: &[(KeywordKind, &'static str)],
) -> [KeywordSlot; SLOTS] {
    let mut table = [None; SLOTS];
    let mut list_index = 0;
    while list_index < lists.len() {
        let (kind, mut text) = lists[list_index];
        while !text.is_empty() {
            let mut end = 0;
            while end < text.len() && text.as_bytes()[end] != b' ' {
                end += 1;
            }
            let (word, rest) = text.split_at(end);
            if end > 0 {
                let mut slot = hash(word.as_bytes()) & (SLOTS - 1);
                while table[slot].is_some() {
                    slot = (slot + 1) & (SLOTS - 1);
                }
                table[slot] = Some((word, kind));
            }
            text = if rest.is_empty() {
                rest
            } else {
                rest.split_at(1).1
            };
        }
        list_index += 1;
    }
    table
}

/// Hashes ASCII letters regardless of case, so that the tables work for both case-sensitive and
/// case-insensitive languages.
#[inline]
const fn hash(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811C_9DC5;
    let mut index = 0;
    while index < word.len() {
        hash = (hash ^ (word[index] | 0x20) as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    (hash ^ (hash >> 15)) as usize
}

/// `table` always has an empty slot.
#[inline]
pub(super) fn find_keyword(
    table: &[KeywordSlot],
    word: &[u8],
    folds_case: bool,
) -> Option<KeywordKind> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    super::line_cursor::count_examined(word.len());
    let mut slot = hash(word) & (table.len() - 1);
    while let Some((keyword, kind)) = table[slot] {
        let keyword = keyword.as_bytes();
        if keyword == word || folds_case && keyword.eq_ignore_ascii_case(word) {
            return Some(kind);
        }
        slot = (slot + 1) & (table.len() - 1);
    }
    None
}
