//! Advice to the user in a [`super::Notice`], as data. Front ends put it into words and add
//! their own commands and keys (`tui/advice.rs`, `headless/advice.rs`).

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// A complete sentence, valid in every front end.
    Sentence(String),

    Retry,
    RetryLater,
    /// Send the restored prompt again.
    ResendPrompt,
    /// Continue a truncated answer.
    Continue,
    WaitOrStop,
    Stop,

    /// Choose one of the configured models.
    SelectModel,
    ChooseOtherModel,
    ChooseLargerContext,
    /// Choose a model that takes images, or send the prompt without them.
    ChooseImageModel,
    /// Add a model that a running server offers.
    AddModel,
    /// Add the model in use to the settings.
    KeepModel,
    ListModels,
    UsePulledModel,
    /// Resume an incomplete download of this model.
    ResumePull(String),
    StopPull,
    /// Have the model answer without thinking.
    StopThinking,
    /// Test which tool-call dialect the model follows best.
    Probe,

    /// Summarize the older part of the conversation.
    Compact,
    RetryCompact,
    NewSession,
    ListSessions,
    SetTitle,
    ListBranches,
    /// Stop saving the conversation.
    MakePrivate,
    ResumeSaving,

    ChooseNotesFolder,
    OpenNote,
    /// Send excerpts of notes with each prompt.
    ConsultNotes,
    StopConsulting,
    /// Send the prompt to the model even if it seems to be about notes.
    BypassNotes,
    /// Continue the truncated answer, which completes the note.
    ContinueNote,

    ShowLog,
    /// Reload the configuration files.
    Reload,
    /// Replace an outdated system prompt with the built-in one.
    ReplaceSystemPrompt,
    /// Send or remove the result of a task, which was attached to the message.
    UseResult,
    /// Ask before tool calls again.
    AskBeforeCalls,
    /// Review changes to trusted tools.
    ReviewTrust,
    /// Disable the server of this name, sanitized.
    DisableServer(String),
    /// List the servers, to switch some of them on.
    ListServers,
    /// Read a server's instructions for the model.
    ReviewInstructions,
    /// Sign in to the server of this name, sanitized.
    SignIn(String),
}

impl Advice {
    /// Whether this is an alternative to the preceding advice rather than the next step.
    fn is_alternative(&self) -> bool {
        matches!(
            self,
            Self::ChooseOtherModel
                | Self::ChooseLargerContext
                | Self::StopThinking
                | Self::NewSession
        )
    }
}

impl<T: Into<String>> From<T> for Advice {
    fn from(sentence: T) -> Self {
        Self::Sentence(sentence.into())
    }
}

/// Joins all advice into one text. `phrase` returns a complete sentence, or `None` if the
/// front end does not support the advice. Returns `None` if no sentence remains.
pub fn join_sentences(
    advice: &[Advice],
    phrase: impl Fn(&Advice) -> Option<String>,
) -> Option<String> {
    let mut joined = String::new();
    for item in advice {
        let Some(sentence) = phrase(item) else {
            continue;
        };
        if joined.is_empty() {
            joined = sentence;
        } else if item.is_alternative() {
            joined.truncate(joined.trim_end_matches('.').len());
            joined.push_str(", or ");
            let mut chars = sentence.chars();
            joined.extend(chars.next().into_iter().flat_map(char::to_lowercase));
            joined.push_str(chars.as_str());
        } else {
            joined.push(' ');
            joined.push_str(&sentence);
        }
    }
    (!joined.is_empty()).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(advice: &Advice) -> Option<String> {
        let text = match advice {
            Advice::Sentence(sentence) => sentence,
            Advice::Retry => "Ask again.",
            Advice::NewSession => "Begin a new one.",
            _ => return None,
        };
        Some(text.to_owned())
    }

    #[test]
    fn steps_become_sentences_and_alternatives_are_joined_with_or() {
        let joined_text = |advice: &[Advice]| join_sentences(advice, phrase).unwrap_or_default();
        let top_up = || Advice::from("Top it up.");
        assert_eq!(
            joined_text(&[top_up(), Advice::Retry]),
            "Top it up. Ask again."
        );
        assert_eq!(
            joined_text(&[top_up(), Advice::NewSession]),
            "Top it up, or begin a new one."
        );
        assert_eq!(joined_text(&[Advice::NewSession]), "Begin a new one.");
        assert_eq!(joined_text(&[Advice::Compact, Advice::Retry]), "Ask again.");
        assert_eq!(joined_text(&[Advice::Compact]), "");
    }
}
