//! The kinds of command arguments. Each row of the command table names a kind, and completion
//! offers values for it, so a new command needs only its row in the table.

/// The kind of a command's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// No argument, or free text: nothing to complete.
    Free,
    Words(&'static [ArgumentWord]),
    /// The path of a note, or one of [`NOTE_WORDS`].
    Note,
    /// A model of `config.json`, by name or number.
    ConfiguredModel,
    /// A model stored by a server that manages its models.
    StoredModel,
    /// How much the selected model thinks.
    Think,
    /// A persona by name or number, or `off`.
    Persona,
    /// A theme by name or number.
    Theme,
    /// A server by name or number, and then one of these words, if there are any.
    Server(&'static [ArgumentWord]),
    /// A running call, by tool or number.
    RunningCall,
    /// An attached file, by name or number.
    AttachedFile,
    /// A prompt as `SERVER:PROMPT`.
    ServerPrompt,
    /// A resource as `SERVER:URI`.
    ServerResource,
}

/// A fixed word of a command's syntax.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentWord {
    pub word: &'static str,
    pub description: &'static str,
    /// The argument that may follow the word.
    pub next: ArgumentKind,
}

const fn word(word: &'static str, description: &'static str) -> ArgumentWord {
    ArgumentWord {
        word,
        description,
        next: ArgumentKind::Free,
    }
}

const fn word_before(
    next: ArgumentKind,
    word: &'static str,
    description: &'static str,
) -> ArgumentWord {
    ArgumentWord {
        word,
        description,
        next,
    }
}

pub const MODELS_WORDS: &[ArgumentWord] = &[
    word("keep", "Add the model in use to config.json"),
    word("pull", "Pull a model into Ollama"),
    word_before(
        ArgumentKind::StoredModel,
        "rm",
        "Remove a model from Ollama, after a confirmation",
    ),
    word("stop", "Cancel the running pull"),
];

pub const TOOLS_WORDS: &[ArgumentWord] = &[
    word("pinned", "Tools that are never held back"),
    word("held", "Tools that requests leave out"),
    word("read-only", "Tools marked as read-only"),
    word("writes", "Tools marked as writing"),
    word("destructive", "Tools marked as destructive"),
];

pub const TOOL_MODE_WORDS: &[ArgumentWord] = &[
    word("auto", "Run calls without asking"),
    word("manual", "Ask before each call"),
];

pub const SERVER_WORDS: &[ArgumentWord] = &[
    word("retry", "Restart or reconnect"),
    word("log", "Show its stderr"),
    word("on", "Switch it on"),
    word("off", "Switch it off; the model no longer sees its tools"),
    word("tools", "Show its tools"),
    word("login", "Sign in to it"),
    word("logout", "Sign out of it"),
    word("instructions", "Show its instructions"),
];

pub const SYSTEM_PROMPT_WORDS: &[ArgumentWord] = &[word("replace", "Replace it, and keep a copy")];

pub const PRIVATE_WORDS: &[ArgumentWord] = &[word("off", "Save conversations again")];

pub const NOTE_WORDS: &[ArgumentWord] = &[word("off", "Close the open note")];

pub const NOTES_WORDS: &[ArgumentWord] = &[
    word("on", "Send matching excerpts of notes with each prompt"),
    word("off", "Send prompts without notes"),
];

pub const COPY_WORDS: &[ArgumentWord] = &[word("call", "Copy the result of the last call")];

pub const EXPORT_WORDS: &[ArgumentWord] = &[
    word_before(EXPORT_OPTIONS, "md", "As Markdown"),
    word_before(EXPORT_OPTIONS, "json", "As a session file"),
    word_before(
        EXPORT_OPTIONS,
        "html",
        "As a page for browsers and printers",
    ),
    word(LAST, LAST_DESCRIPTION),
    word(ANSWERS, ANSWERS_DESCRIPTION),
];

const EXPORT_OPTIONS: ArgumentKind = ArgumentKind::Words(&[
    word(LAST, LAST_DESCRIPTION),
    word(ANSWERS, ANSWERS_DESCRIPTION),
]);
const LAST: &str = "--last";
const LAST_DESCRIPTION: &str = "Only the last turns, such as --last 3";
const ANSWERS: &str = "--answers";
const ANSWERS_DESCRIPTION: &str = "Only the answers";

pub const DELETE_WORDS: &[ArgumentWord] = &[word(
    "undo",
    "Restore the conversation that was deleted last",
)];

pub const LOG_WORDS: &[ArgumentWord] = &[word("answer", "Show how the last answer was read")];
