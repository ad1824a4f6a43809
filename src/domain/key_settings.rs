//! The section `keys` of `config.json` as written. The screen knows the actions, so it checks the
//! entries and reports problems.

/// The names of all actions that answer questions or confirm a deletion begin with one of these.
const ANSWER_PREFIXES: [&str; 3] = ["answer.", "question.", "confirm."];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySettings {
    /// The path of the file, for messages.
    pub file: String,
    /// In file order.
    pub entries: Vec<KeyEntry>,
    /// The number of entries beyond the limit, which were not read.
    pub unread_entries: usize,
}

/// The keys of one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// Unsanitized text from the file.
    pub action: String,
    /// The names of the keys, or why the value is not a list of names.
    pub keys: Result<Vec<String>, String>,
    /// The line of the entry in the file, from 1.
    pub line: usize,
}

impl KeyEntry {
    /// Whether the action answers a question or takes part in answering it. Such a key can approve
    /// a call, so an edit of it needs the user's consent.
    pub fn answers_questions(&self) -> bool {
        ANSWER_PREFIXES
            .iter()
            .any(|prefix| self.action.starts_with(prefix))
    }
}

impl KeySettings {
    /// The entries of actions that answer questions.
    pub fn answer_entries(&self) -> impl Iterator<Item = &KeyEntry> {
        self.entries
            .iter()
            .filter(|entry| entry.answers_questions())
    }

    /// Whether both bind the same keys to the same actions; line numbers do not matter.
    pub fn binds_same_keys(&self, other: &Self) -> bool {
        let bindings = |settings: &Self| -> Vec<_> {
            let entries = settings.entries.iter();
            entries
                .map(|entry| (entry.action.clone(), entry.keys.clone()))
                .collect()
        };
        bindings(self) == bindings(other)
    }
}
