//! Looks up the user's keys in lists, forms, texts and questions, and builds the hints that name
//! them.

use super::layers::{KeyContext, LayerKey, hint_list};
use super::{Action, BindingScope, Chord, Keymap, LAYER_TABLE, normalize_chord};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

impl Keymap {
    /// The meaning of a key while these contexts are open, in any order; `None` if it has none
    /// there. The most specific context takes precedence.
    pub fn layer_key(&self, event: KeyEvent, contexts: &[KeyContext]) -> Option<LayerKey> {
        let is_open =
            |scope| matches!(scope, BindingScope::Layer(open) if contexts.contains(&open));
        let action = self.find_action(event, is_open);
        let action = action.or_else(|| {
            let pressed = normalize_chord(event);
            let is_named = matches!(pressed.code, KeyCode::Char(' '))
                || !matches!(pressed.code, KeyCode::Char(_));
            let unmodified = Chord {
                modifiers: KeyModifiers::NONE,
                ..pressed
            };
            let mut bindings = self.bindings(unmodified).filter(|_| is_named);
            let found = bindings.find(|row| row.ignores_modifiers && is_open(row.scope))?;
            Some(found.action)
        });
        match action? {
            Action::Layer(key) => Some(key),
            _ => None,
        }
    }

    fn layer_keys(&self, context: KeyContext, key: LayerKey) -> &[Chord] {
        let scope = BindingScope::Layer(context);
        let mut rows = LAYER_TABLE.iter();
        let row = rows.find(|row| row.scope == scope && row.action == Action::Layer(key));
        row.map_or(&[], |row| self.keys(row))
    }

    fn first_layer_key(&self, context: KeyContext, key: LayerKey) -> Option<Chord> {
        self.layer_keys(context, key).first().copied()
    }

    /// The letters that give this answer to a question.
    pub fn answer_letters(&self, key: LayerKey) -> impl Iterator<Item = char> {
        let keys = self.layer_keys(KeyContext::Answer, key).iter();
        keys.filter_map(|chord| match chord.code {
            KeyCode::Char(letter) => Some(letter),
            _ => None,
        })
    }

    /// The name of the first key for this meaning in a context; `None` if it has none.
    pub fn layer_key_name(&self, context: KeyContext, key: LayerKey) -> Option<String> {
        Some(self.first_layer_key(context, key)?.to_string())
    }

    /// A press of the first key with this meaning, to handle a click like that key.
    pub fn layer_key_press(&self, context: KeyContext, key: LayerKey) -> Option<KeyEvent> {
        let chord = self.first_layer_key(context, key)?;
        Some(KeyEvent::new(chord.code, chord.modifiers))
    }

    /// A hint such as `Enter resume`; `None` if there is no key.
    pub fn layer_hint(&self, context: KeyContext, key: LayerKey, effect: &str) -> Option<String> {
        Some(format!("{} {effect}", self.layer_key_name(context, key)?))
    }

    /// A hint for two keys with a common effect, such as `PgUp/PgDn scroll`.
    pub fn layer_pair_hint(
        &self,
        context: KeyContext,
        keys: [LayerKey; 2],
        effect: &str,
    ) -> Option<String> {
        let names = keys.map(|key| self.layer_key_name(context, key));
        let names: Vec<String> = names.into_iter().flatten().collect();
        (!names.is_empty()).then(|| format!("{} {effect}", names.join("/")))
    }

    /// A hint for the keys that scroll by pages.
    pub fn scroll_hint(&self) -> Option<String> {
        let pages = [LayerKey::PageUp, LayerKey::PageDown];
        self.layer_pair_hint(KeyContext::ScrollableList, pages, "scroll")
    }

    /// How many rows a key moves a list; `None` if the key does not scroll.
    pub fn row_step(&self, event: KeyEvent) -> Option<isize> {
        let key = self.layer_key(event, &[KeyContext::ScrollableList]);
        key.and_then(LayerKey::rows)
    }

    /// The hints of a confirmation, which any key but the confirming letter declines.
    pub fn confirmation_hints(&self, effect: &str) -> Vec<String> {
        let yes = self.layer_hint(KeyContext::Confirmation, LayerKey::Yes, effect);
        hint_list([yes, Some("n keep".to_owned())])
    }

    /// The letters of a confirmation, such as `(y/n)`.
    pub fn confirmation_letters(&self) -> String {
        let yes = self.layer_key_name(KeyContext::Confirmation, LayerKey::Yes);
        format!("({}/n)", yes.unwrap_or_default())
    }

    /// The hints of a field of one line.
    pub fn line_hints(&self, confirm: &str, back: &str) -> Vec<String> {
        let hint = |key, effect| self.layer_hint(KeyContext::InputLine, key, effect);
        hint_list([hint(LayerKey::Confirm, confirm), hint(LayerKey::Back, back)])
    }
}
