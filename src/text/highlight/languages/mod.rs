//! The languages in groups, and lookup by name.

mod config;
mod functional;
mod managed;
mod native;
mod scripts;
mod shells;

pub(super) use config::CSS;
pub(super) use managed::JAVASCRIPT;

use super::language::Language;

const GROUPS: [&[&Language]; 6] = [
    managed::ALL,
    native::ALL,
    scripts::ALL,
    functional::ALL,
    shells::ALL,
    config::ALL,
];

pub(super) fn all() -> impl Iterator<Item = &'static Language> {
    GROUPS.into_iter().flatten().copied()
}

/// Ignores case.
pub(super) fn find(word: &str) -> Option<&'static Language> {
    all().find(|language| {
        let mut names = language.names();
        names.any(|name| name.eq_ignore_ascii_case(word))
    })
}
