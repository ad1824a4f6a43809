//! The words of a language, hashed while the program is compiled: a look-up is one
//! pass over the word and about one comparison, and nothing is built at start.

/// What a known word is, and what it says of the word behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordKind {
    Keyword,
    /// A keyword such as `fn`, before a function's name.
    NamesFunction,
    /// A keyword such as `struct`, before a type's name.
    NamesType,
    /// A keyword of a shell that no command follows, such as `for`.
    Operand,
    Constant,
    Type,
    Function,
}

pub(super) type KeywordSlot = Option<(&'static str, KeywordKind)>;

/// Longer words are never looked up.
const WORD_BYTES_MAX: usize = 32;

/// Turns lists of words, separated by blanks, into a table: `words!(Keyword: "if else", Type: "int")`.
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

/// Slots for the words of `lists`: a power of two, at least half of them empty.
pub(super) const fn slot_count(lists: &[(KeywordKind, &str)]) -> usize {
    let mut count = 0;
    let mut list = 0;
    while list < lists.len() {
        let bytes = lists[list].1.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let starts = bytes[at] != b' ' && (at == 0 || bytes[at - 1] == b' ');
            count += starts as usize;
            at += 1;
        }
        list += 1;
    }
    (count * 2).next_power_of_two()
}

pub(super) const fn build_table<const SLOTS: usize>(
    lists: &[(KeywordKind, &'static str)],
) -> [KeywordSlot; SLOTS] {
    let mut table = [None; SLOTS];
    let mut list = 0;
    while list < lists.len() {
        let (kind, mut text) = lists[list];
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
        list += 1;
    }
    table
}

/// Of all letters as if they were small, so that one table serves both kinds of language.
#[inline]
const fn hash(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811C_9DC5;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ (word[at] | 0x20) as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize
}

/// What `word` is in `table`, which is never full.
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
    while let Some((known, kind)) = table[slot] {
        let known = known.as_bytes();
        if known == word || folds_case && known.eq_ignore_ascii_case(word) {
            return Some(kind);
        }
        slot = (slot + 1) & (table.len() - 1);
    }
    None
}
