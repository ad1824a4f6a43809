//! Reports the actions whose default keys went to an action that the user gave another key.

use super::{Binding, Chord, Keymap, all_bindings};
use crate::domain::Notice;

/// Maximum number of actions that the notice about lost keys names; it counts the others.
const NAMES_MAX: usize = 5;

/// Default keys that one action lost to another.
pub(super) struct LostKeys {
    pub keys: Vec<Chord>,
    pub loser: &'static Binding,
    pub winner: &'static Binding,
}

impl Keymap {
    /// The notice about these lost keys, if any.
    pub(super) fn notice_about(&self, lost: &[LostKeys]) -> Option<Notice> {
        match lost {
            [] => None,
            [lost] => Some(self.lost_key_notice(lost)),
            several => Some(self.lost_keys_notice(several)),
        }
    }

    /// Names the actions with the keys that they lost, and those that they still have.
    fn lost_keys_notice(&self, lost: &[LostKeys]) -> Notice {
        let names = lost.iter().take(NAMES_MAX).map(|lost| {
            let (loser, keys) = (lost.loser.name, joined(&lost.keys));
            match self.keys(lost.loser) {
                [] => format!("`{loser}` ({keys})"),
                left => format!("`{loser}` ({keys}; {} is left)", joined(left)),
            }
        });
        let mut names: Vec<String> = names.collect();
        if let Some(more) = lost.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
            names.push(format!("{more} more"));
        }
        let last = names.pop().unwrap_or_default();
        let text = format!(
            "Your `keys` took keys from {} and {last}.",
            names.join(", ")
        );
        Notice::info(text).with_advice("/help lists all keys.")
    }

    fn lost_key_notice(&self, lost: &LostKeys) -> Notice {
        let (winner, loser) = (lost.winner.name, lost.loser.name);
        let is_key = match lost.keys.len() {
            1 => "is now the key",
            _ => "are now keys",
        };
        let taken = format!("{} {is_key} of `{winner}`", joined(&lost.keys));
        match self.keys(lost.loser) {
            [] => Notice::info(format!("{taken}, so `{loser}` has none."))
                .with_advice(format!("Set `keys.{loser}` to give it one.")),
            left => Notice::info(format!("{taken}; `{loser}` still has {}.", joined(left))),
        }
    }
}

/// Names of keys, such as `Ctrl+F and F3`.
fn joined(keys: &[Chord]) -> String {
    let names: Vec<String> = keys.iter().map(Chord::to_string).collect();
    names.join(" and ")
}

/// The actions without a choice of their own that lost default keys, one entry per winner.
pub(super) fn lost_keys(
    has_own_keys: impl Fn(&Binding) -> bool,
    winner_of: impl Fn(&Binding, Chord) -> Option<&'static Binding>,
) -> Vec<LostKeys> {
    let mut lost: Vec<LostKeys> = Vec::new();
    for loser in all_bindings().filter(|binding| !has_own_keys(binding)) {
        for key in loser.default_keys {
            let Some(winner) = winner_of(loser, *key) else {
                continue;
            };
            match lost.last_mut() {
                Some(last) if last.loser.name == loser.name && last.winner.name == winner.name => {
                    last.keys.push(*key);
                }
                _ => lost.push(LostKeys {
                    keys: vec![*key],
                    loser,
                    winner,
                }),
            }
        }
    }
    lost
}
