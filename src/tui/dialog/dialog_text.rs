//! The text around the body of a dialog: its title, the server's claims about its tool, the
//! question with its choices, and notes on the call.

use crate::domain::schema::UNCHECKED_LABEL;
use crate::domain::tool::{CallOrigin, Tool, ToolCall};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::dialog::choices::letter_name;
use crate::tui::dialog::state::{Dialog, DialogChoice, DialogMode, DialogPage};
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::SharedUiState;

const DESTRUCTIVE: &str = "destructive";
const EDITED: &str = "edited";
/// Columns of the rule that stay free for its ends and the text at its right end.
const RULE_TEXT_COLUMNS: usize = 48;

/// The parts of a dialog that never scroll.
pub struct DialogText {
    pub title: String,
    /// Whether the title names everything that the question is about.
    pub title_fits: bool,
    pub badges: Vec<Badge>,
    /// `1/3`: the position of the call among several, for dialogs whose title has no room for it.
    pub position: String,
    pub question: String,
    pub page: DialogPage,
    pub choices: Vec<DialogChoice>,
    pub page_keys: PageKeys,
    /// The label of the field for a confirmation word or a reason, if it is open.
    pub field_label: Option<String>,
    /// Facts about a call that the user should know.
    pub notes: String,
    pub is_edited: bool,
    /// The label of the key that opens the page of lasting choices.
    pub lasting_label: String,
    /// The sign for something left out.
    pub more: &'static str,
}

/// The names of the keys that the row of choices shows besides the choices; empty without a key.
pub struct PageKeys {
    pub lasting: String,
    pub details: String,
    pub choose: String,
    pub back: String,
}

impl PageKeys {
    fn new(keymap: &Keymap) -> Self {
        let name = |key| keymap.layer_key_name(KeyContext::Question, key);
        Self {
            lasting: letter_name(keymap, LayerKey::Lasting),
            details: letter_name(keymap, LayerKey::Details),
            choose: name(LayerKey::Confirm).unwrap_or_default(),
            back: name(LayerKey::Back).unwrap_or_default(),
        }
    }
}

/// One of the server's claims about its tool, in a word or two.
pub struct Badge {
    pub text: &'static str,
    pub is_harmful: bool,
}

impl DialogText {
    /// Position, edit and warnings in at most `room` columns: `1/3 edited destructive`, or `1/3!`.
    pub fn status(&self, room: usize) -> String {
        let warnings = self.badges.iter().filter(|badge| badge.is_harmful);
        let warnings: Vec<&str> = warnings.map(|badge| badge.text).collect();
        let is_destructive = warnings.contains(&DESTRUCTIVE);
        let join = |words: &[&str]| {
            let edited = if self.is_edited { EDITED } else { "" };
            let words = [self.position.as_str(), edited]
                .into_iter()
                .chain(words.iter().copied());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            words.join(" ")
        };
        let mark = if is_destructive { "!" } else { "" };
        let candidates = (1..=warnings.len())
            .rev()
            .map(|count| join(&warnings[..count]))
            .chain([join(&[mark]), self.short_status()])
            .chain(self.is_edited.then(|| EDITED.to_owned()));
        let fits = |text: &String| width(text) <= room;
        candidates.into_iter().find(fits).unwrap_or_default()
    }

    /// Whether the notes fit on the rule, to the left of the text at its right end.
    pub fn notes_fit(&self, columns: u16) -> bool {
        width(&self.notes) + RULE_TEXT_COLUMNS <= usize::from(columns)
    }

    /// `1/3! edited`.
    pub fn short_status(&self) -> String {
        let mut badges = self.badges.iter();
        let is_destructive = badges.any(|badge| badge.text == DESTRUCTIVE);
        let mark = if is_destructive { "!" } else { "" };
        match (self.is_edited, self.position.is_empty() && mark.is_empty()) {
            (true, true) => EDITED.to_owned(),
            (true, false) => format!("{}{mark} {EDITED}", self.position),
            (false, _) => format!("{}{mark}", self.position),
        }
    }
}

/// The texts of a dialog `columns` wide.
pub fn dialog_text(shared: SharedUiState, dialog: &Dialog, columns: u16) -> DialogText {
    let question = &dialog.question;
    let badges = dialog.call().map(|call| badges(&call.tool));
    let page = dialog.page();
    let mut text = DialogText {
        title: question.title.to_string(),
        title_fits: false,
        position: short_position(dialog),
        question: match page {
            DialogPage::Values => "Edit which value?".to_owned(),
            _ if dialog.call().is_some() => {
                format!("{} {}", question.prompt, yes_and_no(shared.keymap))
            }
            _ => question.prompt.to_owned(),
        },
        page,
        choices: dialog.choices(shared),
        page_keys: PageKeys::new(shared.keymap),
        field_label: field_label(&dialog.mode, shared.keymap),
        notes: call_notes(shared, dialog),
        is_edited: dialog.is_edited(),
        lasting_label: shared.glyphs.label("always…".to_owned()),
        more: shared.glyphs.more,
        badges: badges.unwrap_or_default(),
    };
    if dialog.call().is_some() {
        // If there is no room, drop harmless badges rather than the names, but never a warning.
        let warnings = text.badges.iter().filter(|badge| badge.is_harmful);
        let badge_columns: usize = warnings.map(|badge| width(badge.text) + 3).sum();
        // On a wider screen, this label is among the notes on the rule below.
        let edited = match text.is_edited && !text.notes_fit(columns) {
            true => format!("  {EDITED}"),
            false => String::new(),
        };
        let title = call_title(shared, dialog) + &edited;
        text.title_fits = width(&title) + badge_columns + 8 <= usize::from(columns);
        text.title = match text.title_fits {
            true => title,
            false => format!("Run this tool?{}{edited}", position(dialog)),
        };
    }
    text
}

fn field_label(mode: &DialogMode, keymap: &Keymap) -> Option<String> {
    let enter = keymap.layer_key_name(KeyContext::InputLine, LayerKey::Confirm);
    let enter = enter.unwrap_or_default();
    match mode {
        DialogMode::DenialReason(_) => Some("Tell the model why (optional):".to_owned()),
        DialogMode::ConfirmUnread(_) => {
            Some(format!("Type run and press {enter} to run it unread:"))
        }
        DialogMode::ConfirmSecret(_) => Some(format!(
            "Type send and press {enter} to send a possible secret:"
        )),
        DialogMode::Choosing | DialogMode::EditForm | DialogMode::EditArguments { .. } => None,
    }
}

/// `(Y/N)`: the letters for yes and no.
fn yes_and_no(keymap: &Keymap) -> String {
    let letters = [LayerKey::Yes, LayerKey::No].map(|key| letter_name(keymap, key));
    let shown = letters.iter().filter(|letter| !letter.is_empty());
    let shown: Vec<String> = shown.map(|letter| letter.to_uppercase()).collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!("({})", shown.join("/")),
    }
}

/// `Run edit_file on filesystem?  1 of 2`.
fn call_title(shared: SharedUiState, dialog: &Dialog) -> String {
    let Some(offered) = dialog.call() else {
        return String::new();
    };
    let server = shared.transcript.call(offered.call);
    let server = server.map_or_else(String::new, |call| call.server.to_string());
    let tool = Clean::quoted_if_needed(&offered.tool.name);
    let server = Clean::quoted_if_needed(&server);
    format!("Run {tool} on {server}?{}", position(dialog))
}

/// `  1 of 2, decided`; empty for a single call.
fn position(dialog: &Dialog) -> String {
    let count = dialog.calls().len();
    if count < 2 {
        return String::new();
    }
    let decided = match dialog.decisions.get(dialog.call_index) {
        Some(Some(_)) => ", decided",
        _ => "",
    };
    format!("  {} of {count}{decided}", dialog.call_index + 1)
}

/// `2/3`; empty for a single call.
fn short_position(dialog: &Dialog) -> String {
    match dialog.calls().len() {
        ..2 => String::new(),
        count => format!("{}/{count}", dialog.call_index + 1),
    }
}

/// The server's claims that a tool is harmful, or if there are none, that it is read-only.
fn badges(tool: &Tool) -> Vec<Badge> {
    let hints = &tool.annotations;
    let harmful = [
        (hints.destructive == Some(true), DESTRUCTIVE),
        (hints.read_only == Some(false), "writes"),
        (hints.open_world == Some(true), "reaches the network"),
    ];
    let harmful = harmful.into_iter().filter(|(applies, _)| *applies);
    let mut badges: Vec<Badge> = harmful
        .map(|(_, text)| Badge {
            text,
            is_harmful: true,
        })
        .collect();
    if badges.is_empty() && hints.read_only == Some(true) {
        badges.push(Badge {
            text: "read-only (the server says)",
            is_harmful: false,
        });
    }
    badges
}

/// The most important parts come first, because a narrow screen truncates the end.
fn call_notes(shared: SharedUiState, dialog: &Dialog) -> String {
    let call = dialog
        .call()
        .and_then(|offered| shared.transcript.call(offered.call));
    let mut parts = Vec::new();
    if dialog.is_edited() {
        parts.push(EDITED.to_owned());
    }
    if let Some(quoted) = call.and_then(|call| call.quoted) {
        parts.push(quoted.clause().to_owned());
    }
    if call.is_some_and(|call| call.is_unchecked) {
        parts.push(UNCHECKED_LABEL.to_owned());
    }
    if call.is_some_and(|call| call.repeats.is_some()) {
        parts.push("same call as before".to_owned());
    }
    match call.map(|call| &call.origin) {
        Some(CallOrigin::Text {
            form,
            repaired: true,
            ..
        }) => parts.push(format!("recovered from text, repaired ({form})")),
        Some(CallOrigin::Text {
            form,
            is_taught: false,
            ..
        }) => parts.push(format!("recovered from text ({form})")),
        Some(_) if call.is_some_and(ToolCall::has_repaired_arguments) => {
            parts.push("repaired".to_owned());
        }
        _ => {}
    }
    parts.join(&format!(" {} ", shared.glyphs.dot))
}
