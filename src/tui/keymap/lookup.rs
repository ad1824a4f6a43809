//! The keys in use: the defaults together with the user's choices. Built when the settings change,
//! so that a key press costs one lookup.

use super::{
    Action, Binding, BindingScope, Chord, KeyProtocol, TABLE, all_bindings, normalize_chord,
    shifted_letter, user_keys,
};
use crate::domain::{Banner, KeySettings, Notice};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug)]
pub struct Keymap {
    settings: Arc<KeySettings>,
    protocol: KeyProtocol,
    /// The keys of each binding, by its name.
    keys: HashMap<&'static str, Vec<Chord>>,
    /// The bindings of each key, narrow scopes first.
    by_key: HashMap<Chord, Vec<&'static Binding>>,
    banners: Vec<Banner>,
    problems: Vec<String>,
    lost_key_notice: Option<Notice>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Arc::default(), KeyProtocol::default())
    }
}

impl Keymap {
    pub fn new(settings: Arc<KeySettings>, protocol: KeyProtocol) -> Self {
        let resolved = user_keys::resolve(&settings, protocol);
        let keys = resolved.keys;
        let mut by_key: HashMap<Chord, Vec<&'static Binding>> = HashMap::new();
        for (binding, keys) in all_bindings().zip(&keys) {
            for key in keys {
                by_key.entry(*key).or_default().push(binding);
                if let Some(alias) = key.legacy_alias().filter(|alias| !keys.contains(alias)) {
                    by_key.entry(alias).or_default().push(binding);
                }
            }
        }
        for bindings in by_key.values_mut() {
            bindings.sort_by_key(|binding| std::cmp::Reverse(binding.scope.depth()));
        }
        let names = all_bindings().map(|binding| binding.name);
        let mut this = Self {
            keys: names.zip(keys).collect(),
            settings,
            protocol,
            by_key,
            banners: resolved.banners,
            problems: resolved.problems,
            lost_key_notice: None,
        };
        this.lost_key_notice = this.notice_about(&resolved.lost);
        this
    }

    /// Replaces the user's choices. Returns false if they are the same.
    pub fn set_settings(&mut self, settings: Arc<KeySettings>) -> bool {
        let is_changed = *settings != *self.settings;
        if is_changed {
            *self = Self::new(settings, self.protocol);
        }
        is_changed
    }

    pub fn set_protocol(&mut self, protocol: KeyProtocol) {
        if protocol != self.protocol {
            *self = Self::new(Arc::clone(&self.settings), protocol);
            // The settings have not changed.
            self.lost_key_notice = None;
        }
    }

    /// Banners about entries of `keys` that cannot be used.
    pub fn banners(&self) -> &[Banner] {
        &self.banners
    }

    /// Takes one line for each entry of `keys` that cannot be used, for the log.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    /// Takes the notice about actions that lost a key to a choice of the user.
    pub fn take_lost_key_notice(&mut self) -> Option<Notice> {
        self.lost_key_notice.take()
    }

    /// The action of a key among the bindings whose scope applies.
    pub fn find_action(
        &self,
        event: KeyEvent,
        is_in_scope: impl Fn(BindingScope) -> bool,
    ) -> Option<Action> {
        let find = |pressed: Chord| {
            let found = self.bindings(pressed).find(|row| is_in_scope(row.scope))?;
            Some(found.action)
        };
        // A letter with Shift acts like the letter unless it has a binding of its own.
        shifted_letter(event)
            .and_then(find)
            .or_else(|| find(normalize_chord(event)))
    }

    /// Narrow scopes first.
    pub(super) fn bindings(&self, key: Chord) -> impl Iterator<Item = &'static Binding> {
        self.by_key.get(&key).into_iter().flatten().copied()
    }

    /// The action of a key that works everywhere.
    pub fn global_action(&self, event: KeyEvent) -> Option<Action> {
        self.find_action(event, |scope| scope == BindingScope::Always)
    }

    pub fn text_field_action(&self, event: KeyEvent) -> Option<Action> {
        self.find_action(event, |scope| scope == BindingScope::Message)
    }

    pub fn keys(&self, binding: &Binding) -> &[Chord] {
        self.keys.get(binding.name).map_or(&[], Vec::as_slice)
    }

    /// The name of the first key of an action; `None` if it has none.
    pub fn key_name(&self, action: Action) -> Option<String> {
        let mut bindings = TABLE.iter().filter(|binding| binding.action == action);
        let key = bindings.find_map(|binding| self.keys(binding).first())?;
        Some(key.to_string())
    }

    /// A hint such as `Ctrl+P commands`; `None` if the action has no key.
    pub fn hint(&self, action: Action, effect: &str) -> Option<String> {
        Some(format!("{} {effect}", self.key_name(action)?))
    }

    /// A hint for an action in a text field: names its first key other than Enter, which confirms
    /// the field.
    pub fn field_hint(&self, action: Action, effect: &str) -> Option<String> {
        let enter = Chord {
            code: KeyCode::Enter,
            modifiers: KeyModifiers::NONE,
        };
        let bindings = TABLE.iter().filter(|binding| binding.action == action);
        let mut keys = bindings.flat_map(|binding| self.keys(binding));
        let key = keys.find(|key| **key != enter)?;
        Some(format!("{key} {effect}"))
    }

    /// A hint for two actions with a common effect, such as `Up/Down select`.
    pub fn pair_hint(&self, actions: [Action; 2], effect: &str) -> Option<String> {
        let names: Vec<String> = actions
            .iter()
            .filter_map(|action| self.key_name(*action))
            .collect();
        (!names.is_empty()).then(|| format!("{} {effect}", names.join("/")))
    }
}
