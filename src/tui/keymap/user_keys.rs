//! Combines the default keys with the keys that the user chose. A chosen key wins over the default
//! of another action, which loses it. An entry that cannot be used becomes a banner, and its action
//! keeps the default.

use super::layers::{KeyContext, LayerKey};
use super::lost_keys::{LostKeys, lost_keys};
use super::{Action, Binding, BindingGroup, BindingScope, Chord, KeyProtocol, TABLE, all_bindings};
use crate::domain::{Banner, BannerCause, KeyEntry, KeySettings, Notice};
use crate::text::suggest::nearest;
use crossterm::event::{KeyCode, KeyModifiers};

/// Maximum number of banners; one more counts the others.
const BANNERS_MAX: usize = 4;
/// Maximum number of characters of a wrong name quoted in a banner.
const QUOTED_CHARS_MAX: usize = 40;

const CTRL_C: Chord = Chord {
    code: KeyCode::Char('c'),
    modifiers: KeyModifiers::CONTROL,
};
const ESC: Chord = Chord {
    code: KeyCode::Esc,
    modifiers: KeyModifiers::NONE,
};

/// An entry that can be used.
struct ChosenKeys {
    binding: &'static Binding,
    keys: Vec<Chord>,
    line: usize,
}

struct KeyProblem {
    action: String,
    /// `None` if there is no such action.
    binding: Option<&'static Binding>,
    line: usize,
    /// One or more sentences.
    reason: String,
}

pub(super) struct ResolvedKeys {
    /// The keys of all actions, in the order of `all_bindings`.
    pub keys: Vec<Vec<Chord>>,
    /// About the first unusable entries.
    pub banners: Vec<Banner>,
    /// All unusable entries, for the log.
    pub problems: Vec<String>,
    pub lost: Vec<LostKeys>,
}

pub(super) fn resolve(settings: &KeySettings, protocol: KeyProtocol) -> ResolvedKeys {
    let mut chosen: Vec<ChosenKeys> = Vec::new();
    let mut problems = Vec::new();
    for entry in &settings.entries {
        let checked = check_entry(entry, protocol);
        match checked.and_then(|keys| without_clash(keys, &chosen)) {
            Ok(keys) => add(keys, &mut chosen),
            Err(problem) => problems.push(problem),
        }
    }
    while let Some((index, problem)) = find_taker_of_needed_key(&chosen) {
        chosen.remove(index);
        problems.push(problem);
    }
    let keys = all_bindings().map(|binding| keys_of(binding, &chosen));
    let has_own_keys =
        |binding: &Binding| chosen.iter().any(|own| own.binding.name == binding.name);
    let winner_of = |loser: &Binding, key| {
        let winner = chosen.iter().find(|other| other.takes(key, loser))?;
        Some(winner.binding)
    };
    ResolvedKeys {
        keys: keys.collect(),
        banners: banners(settings, &problems, &chosen),
        problems: problem_lines(settings, &problems),
        lost: lost_keys(has_own_keys, winner_of),
    }
}

/// Adds an entry to those before it. Two entries may name one action by different names.
fn add(keys: ChosenKeys, chosen: &mut Vec<ChosenKeys>) {
    let mut earlier = chosen.iter_mut();
    match earlier.find(|own| own.binding.name == keys.binding.name) {
        Some(own) => own.keys.extend(keys.keys),
        None => chosen.push(keys),
    }
}

/// The keys of an action: the chosen ones, or else the default ones that no other action took.
fn keys_of(binding: &Binding, chosen: &[ChosenKeys]) -> Vec<Chord> {
    let own = chosen.iter().find(|keys| keys.binding.name == binding.name);
    if let Some(own) = own {
        return own.keys.clone();
    }
    let is_taken = |key: &Chord| chosen.iter().any(|other| other.takes(*key, binding));
    let keys = binding.default_keys.iter();
    keys.filter(|key| !is_taken(key)).copied().collect()
}

impl ChosenKeys {
    fn takes(&self, key: Chord, from: &Binding) -> bool {
        let own = self.binding;
        self.has(key) && own.competes_with(from) && !own.is_exception_to(from)
    }

    fn has(&self, key: Chord) -> bool {
        self.keys.iter().any(|own| own.is_same_key(key))
    }
}

impl Chord {
    /// Whether a terminal may report both in the same way.
    fn is_same_key(self, other: Self) -> bool {
        let reported = |chord: Self| chord.legacy_alias().unwrap_or(chord);
        reported(self) == reported(other)
    }
}

impl Binding {
    /// Whether a key of both would be ambiguous, or would never reach one of them.
    pub(super) fn competes_with(&self, other: &Self) -> bool {
        let is_layer = |binding: &Self| matches!(binding.scope, BindingScope::Layer(_));
        match (is_layer(self), is_layer(other)) {
            (true, false) => other.action.precedes(self.scope),
            (false, true) => self.action.precedes(other.scope),
            // Answers that no question offers together may share a letter.
            (true, true)
                if self.scope == other.scope && self.default_keys == other.default_keys =>
            {
                false
            }
            // One key may close both.
            (true, true) if self.closes_layer() && other.closes_layer() => false,
            _ => self.scope.overlaps(other.scope),
        }
    }

    /// Whether both may have the same key, because this one comes first where both apply.
    pub(super) fn is_exception_to(&self, other: &Self) -> bool {
        let is_narrower = self.scope.is_narrower_than(other.scope);
        is_narrower && other.scope != BindingScope::Always && !other.closes_layer()
    }

    pub(super) fn closes_layer(&self) -> bool {
        self.action == Action::Layer(LayerKey::Back)
    }

    /// Whether the program would be unusable without a key for it.
    pub(super) fn needs_key(&self) -> bool {
        let confirms = self.action == Action::Layer(LayerKey::Confirm);
        self.action == Action::Send || self.closes_layer() || confirms
    }
}

impl Action {
    /// Whether its key acts even where this layer is open.
    fn precedes(self, layer: BindingScope) -> bool {
        let is_dialog = matches!(layer, BindingScope::Layer(context) if context.is_of_dialog());
        let before_dialogs = [
            Self::HELP,
            Self::LOG,
            Self::MOUSE,
            Self::SIDEBAR,
            Self::THINKING,
            Self::RAW,
        ];
        matches!(self, Self::Interrupt | Self::Redraw | Self::Suspend)
            || is_dialog && before_dialogs.contains(&self)
    }
}

fn check_entry(entry: &KeyEntry, protocol: KeyProtocol) -> Result<ChosenKeys, KeyProblem> {
    let binding = all_bindings().find(|binding| binding.has_name(&entry.action));
    let problem = |reason: String| KeyProblem {
        action: entry.action.clone(),
        binding,
        line: entry.line,
        reason,
    };
    let Some(binding) = binding else {
        let names = all_bindings().map(|binding| binding.name);
        let suggestion = match nearest(&entry.action, names) {
            Some(near) => format!("there is no such action. Did you mean `{near}`?"),
            None => "there is no such action.".to_owned(),
        };
        return Err(problem(suggestion));
    };
    let names = entry.keys.as_ref();
    let names = names.map_err(|error| problem(format!("its value {error}.")))?;
    let keys = names.iter().map(|name| {
        let key = name.parse::<Chord>().map_err(|error| {
            let name: String = name.chars().take(QUOTED_CHARS_MAX).collect();
            format!("`{name}` is not a key: {error}.")
        })?;
        check_key(key, binding, protocol)
    });
    let keys: Vec<Chord> = keys.collect::<Result<_, _>>().map_err(problem)?;
    if let Some(reason) = missing_key(binding, &keys) {
        return Err(problem(reason.to_owned()));
    }
    Ok(ChosenKeys {
        binding,
        keys,
        line: entry.line,
    })
}

/// Checks that the key reaches the action and that the program stays usable.
fn check_key(key: Chord, binding: &Binding, protocol: KeyProtocol) -> Result<Chord, String> {
    if binding.default_keys.contains(&key) {
        return Ok(key);
    }
    let is_everywhere = binding.scope == BindingScope::Always;
    let moves = matches!(
        key.code,
        KeyCode::PageUp | KeyCode::PageDown | KeyCode::Home | KeyCode::End | KeyCode::Tab
    );
    let is_movement = moves && binding.group == BindingGroup::Moving;
    if key == CTRL_C {
        return Err("Ctrl+C always stops the turn and quits.".to_owned());
    }
    if let BindingScope::Layer(context) = binding.scope {
        check_layer_key(key, binding, context)?;
    } else if key.code == KeyCode::Esc {
        return Err("Esc always closes lists and dialogs.".to_owned());
    }
    if key.types_text() && (is_everywhere || binding.scope == BindingScope::Message) {
        return Err(format!("{key} types text into the message."));
    }
    if is_everywhere && !key.is_shortcut() && !is_movement {
        return Err(format!(
            "{key} is used by lists, questions and the message. Use a function key, or a \
             character with Ctrl or Alt."
        ));
    }
    match key.unsendable_reason(protocol) {
        Some(reason) => Err(format!("{reason}.")),
        None => Ok(key),
    }
}

fn check_layer_key(key: Chord, binding: &Binding, context: KeyContext) -> Result<(), String> {
    let is_letter = matches!(key.code, KeyCode::Char('a'..='z')) && key.modifiers.is_empty();
    let edits = matches!(key.code, KeyCode::Backspace | KeyCode::Delete);
    if key.code == KeyCode::Esc && context.is_left_by_back() {
        return Err("Esc always closes a text or a list.".to_owned());
    }
    let answers = matches!(context, KeyContext::Confirmation | KeyContext::Answer);
    if answers && !is_letter {
        let reason = "is easily pressed by accident. Only a letter can answer a question.";
        return Err(format!("{key} {reason}"));
    }
    if context == KeyContext::Confirmation && key.code == KeyCode::Char('n') {
        return Err("n declines.".to_owned());
    }
    if context.takes_text() && key.types_text() {
        return Err(format!("{key} types text there."));
    }
    if context.takes_text() && edits && key.modifiers.is_empty() {
        return Err(format!("{key} deletes text there."));
    }
    if binding.closes_layer() && key.types_text() {
        return Err(format!("{key} is easily pressed by accident."));
    }
    Ok(())
}

/// The reason why these keys are not enough for an action; `None` if they are.
fn missing_key(binding: &Binding, keys: &[Chord]) -> Option<&'static str> {
    match binding.action {
        Action::Interrupt if !keys.contains(&CTRL_C) => {
            Some("Ctrl+C must remain one of its keys, to stop a turn and to quit.")
        }
        Action::Back if !keys.contains(&ESC) => {
            Some("Esc must remain one of its keys, to close lists and dialogs.")
        }
        Action::Send if keys.is_empty() => Some("without a key, no message could be sent."),
        _ if keys.is_empty() && binding.closes_layer() => {
            Some("it needs a key: otherwise nothing could be closed.")
        }
        _ if keys.is_empty() && binding.needs_key() => {
            Some("it needs a key: otherwise nothing could be chosen or confirmed.")
        }
        _ => None,
    }
}

/// Refuses an entry with a key that an earlier entry has too.
fn without_clash(keys: ChosenKeys, earlier: &[ChosenKeys]) -> Result<ChosenKeys, KeyProblem> {
    let own = keys.binding;
    let clashing = earlier.iter().find_map(|earlier| {
        let key = keys.keys.iter().find(|key| earlier.has(**key))?;
        let other = earlier.binding;
        // A key may have one meaning in a pane and another on some of its rows.
        let is_nested = own.is_exception_to(other) || other.is_exception_to(own);
        (own.competes_with(other) && !is_nested).then_some((earlier, *key))
    });
    let Some((other, key)) = clashing else {
        return Ok(keys);
    };
    let (name, line) = (other.binding.name, other.line);
    Err(KeyProblem {
        action: keys.binding.name.to_owned(),
        binding: Some(keys.binding),
        line: keys.line,
        reason: format!("line {line} gives {key} to `{name}`."),
    })
}

/// The last choice because of which an action that needs a key would have none.
fn find_taker_of_needed_key(chosen: &[ChosenKeys]) -> Option<(usize, KeyProblem)> {
    let mut needed = all_bindings().filter(|binding| binding.needs_key());
    let keyless = needed.find(|binding| keys_of(binding, chosen).is_empty())?;
    let takes = |keys: &ChosenKeys| {
        keyless
            .default_keys
            .iter()
            .any(|key| keys.takes(*key, keyless))
    };
    let index = chosen.iter().rposition(takes)?;
    let keys = &chosen[index];
    let names: Vec<String> = keyless.default_keys.iter().map(Chord::to_string).collect();
    let (names, name) = (names.join(", "), keyless.name);
    let effect = match keyless.action {
        Action::Send => "to send the message".to_owned(),
        _ => format!("for `{name}`"),
    };
    let problem = KeyProblem {
        action: keys.binding.name.to_owned(),
        binding: Some(keys.binding),
        line: keys.line,
        reason: format!("no key would be left {effect}. Give `{name}` one besides {names}."),
    };
    Some((index, problem))
}

fn banners(settings: &KeySettings, problems: &[KeyProblem], chosen: &[ChosenKeys]) -> Vec<Banner> {
    let file = &settings.file;
    let banner = |name: &str, message: String, advice: String| {
        let cause = BannerCause::setting("config.json", name);
        Banner::new(cause, Notice::warning(message).with_advice(advice))
    };
    let shown = problems.iter().take(BANNERS_MAX).map(|problem| {
        let (name, message) = (problem.setting(), problem.message(file));
        let advice = match problem.binding {
            None => "Correct it in the file; the other keys apply.".to_owned(),
            Some(binding) => {
                let keys = keys_of(binding, chosen);
                let keys: Vec<String> = keys.iter().map(Chord::to_string).collect();
                match keys.as_slice() {
                    [] => "Correct it in the file; until then it has no key.".to_owned(),
                    keys => format!("Until you correct it, its key is {}.", keys.join(" or ")),
                }
            }
        };
        banner(&name, message, advice)
    });
    let mut banners: Vec<Banner> = shown.collect();
    let hidden = problems.len().saturating_sub(BANNERS_MAX) + settings.unread_entries;
    if hidden > 0 {
        let entries = if hidden == 1 { "entry" } else { "entries" };
        let message = format!("{file}: {hidden} more {entries} of `keys` cannot be used.");
        let log = TABLE.iter().find(|binding| binding.action == Action::LOG);
        let log_key = log.and_then(|log| keys_of(log, chosen).first().map(Chord::to_string));
        let log_key = log_key.unwrap_or_else(|| "/log".to_owned());
        banners.push(banner(
            "keys",
            message,
            format!("{log_key} lists every problem."),
        ));
    }
    banners
}

fn problem_lines(settings: &KeySettings, problems: &[KeyProblem]) -> Vec<String> {
    let file = &settings.file;
    let lines = problems.iter().map(|problem| problem.message(file));
    let mut lines: Vec<String> = lines.collect();
    if settings.unread_entries > 0 {
        let (read, unread) = (settings.entries.len(), settings.unread_entries);
        lines.push(format!(
            "{file}: `keys` has too many entries. Only the first {read} are read, not the other {unread}."
        ));
    }
    lines
}

impl KeyProblem {
    /// The path of the entry in `config.json`.
    fn setting(&self) -> String {
        let action: String = self.action.chars().take(QUOTED_CHARS_MAX).collect();
        format!("keys.{action}")
    }

    fn message(&self, file: &str) -> String {
        let (line, setting, reason) = (self.line, self.setting(), &self.reason);
        format!("{file}, line {line}: `{setting}`: {reason}")
    }
}
