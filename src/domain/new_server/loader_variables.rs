//! Variables with which an entry can change which program or code runs, whatever its command says.

use crate::text::{WordList, word_list};
/// Names, upper case.
static NAMES: WordList = word_list!("environment", "loaders");
/// Beginnings of names, upper case. `LD_PRELOAD` and `DYLD_INSERT_LIBRARIES` load a library; variables
/// with the other prefixes can change where packages or images come from.
static PREFIXES: WordList = word_list!("environment", "loader prefixes");

/// Whether a variable can change which program or code runs.
pub fn can_change_program(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let begins_with = |prefix: &str| upper.starts_with(prefix);
    NAMES.contains(&upper.as_str()) || PREFIXES.iter().any(|prefix| begins_with(prefix))
}
