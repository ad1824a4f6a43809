//! Parses `roots` in `config.json`: the folders that MCP servers may ask for.

use super::fields::{self, FieldError};
use crate::files::expand_home;
use std::path::PathBuf;

const ROOTS_MAX: usize = 32;

/// The absolute path of a folder; `None` if it is already in `others`. The folder may be missing
/// now, for example on a removable drive.
pub(super) fn parse_root(given: &str, others: &[PathBuf]) -> Result<Option<PathBuf>, FieldError> {
    let path = expand_home(given.trim());
    if !path.is_absolute() {
        return Err(format!(
            "`roots` has `{}`, expected an absolute path such as `/home/me/project` or `~/project`",
            fields::start_to_quote(given)
        ));
    }
    if others.contains(&path) {
        return Ok(None);
    }
    match others.len() < ROOTS_MAX {
        true => Ok(Some(path)),
        false => Err(format!("`roots` has more than {ROOTS_MAX} folders")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_absolute_and_listed_once() {
        let others = [PathBuf::from("/a")];
        assert_eq!(parse_root(" /b ", &others), Ok(Some("/b".into())));
        assert_eq!(parse_root("/a", &others), Ok(None));
        let home = parse_root("~/b", &others).expect("a folder in the home");
        assert!(home.is_some_and(|path| path.is_absolute() && path.ends_with("b")));
        let error = parse_root("b\nc", &others).expect_err("a relative path");
        assert!(error.contains("expected an absolute path"), "{error}");
        let many: Vec<PathBuf> = (0..ROOTS_MAX).map(|n| format!("/{n}").into()).collect();
        let error = parse_root("/more", &many).expect_err("too many");
        assert_eq!(error, "`roots` has more than 32 folders");
    }
}
