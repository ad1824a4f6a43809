//! What the user can do about a [`super::Notice`], as data. The engine, the adapters and
//! this floor know no command and no key: each front end has its own words for these
//! (`tui/advice.rs`, `headless/advice.rs`).

/// One way to go on from a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// A whole sentence that is true in every front end.
    Sentence(String),

    /// Ask the model again.
    Retry,
    /// Ask the model again, but not at once.
    RetryLater,
    /// Send the prompt that was put back into the message.
    ResendPrompt,
    /// Go on with an answer that was cut.
    Continue,
    /// Wait until what runs has ended, or stop it.
    WaitOrStop,
    /// Stop what runs, where the user does not want it.
    Stop,

    /// Choose one of the configured models.
    SelectModel,
    /// Another model may do better.
    ChooseOtherModel,
    ChooseLargerContext,
    /// See what a running model server has, and add it.
    AddModel,
    /// See what a model server has.
    ListModels,
    /// Use the model that was pulled.
    UsePulledModel,
    /// Go on with a pull that ended early, of this name.
    ResumePull(String),
    StopPull,
    /// Find out which form of tool calls a model writes best.
    Probe,

    /// Summarize the older part of the conversation.
    Compact,
    /// Try again to summarize.
    RetryCompact,
    NewSession,
    /// See which sessions there are.
    ListSessions,
    /// Give the conversation a title.
    SetTitle,
    /// See the branches of the conversation.
    ListBranches,
    /// Keep the conversation off the disk.
    MakePrivate,
    /// Save the conversation again.
    ResumeSaving,

    /// See the log of this program.
    ShowLog,
    /// Read the configuration files again.
    Reload,
    /// Put the built-in system prompt in place of an older one.
    ReplaceSystemPrompt,
    /// See what changed about trusted tools.
    ReviewTrust,
    /// Switch servers or tools off.
    DisableTools,
    /// Read what a server wants the model to be told.
    ReviewInstructions,
}

impl Advice {
    /// Is it another way out than the advice before it, rather than the next step?
    fn is_alternative(&self) -> bool {
        matches!(
            self,
            Self::ChooseOtherModel | Self::ChooseLargerContext | Self::NewSession
        )
    }
}

impl<T: Into<String>> From<T> for Advice {
    fn from(sentence: T) -> Self {
        Self::Sentence(sentence.into())
    }
}

/// All advice as sentences, in the words of a front end: `phrase` gives a whole sentence,
/// or none where that front end has no such way. None where nothing is left to say.
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
        let words = match advice {
            Advice::Sentence(sentence) => sentence,
            Advice::Retry => "Ask again.",
            Advice::NewSession => "Begin a new one.",
            _ => return None,
        };
        Some(words.to_owned())
    }

    #[test]
    fn steps_become_sentences_and_alternatives_are_joined_with_or() {
        let said = |advice: &[Advice]| join_sentences(advice, phrase).unwrap_or_default();
        let top_up = || Advice::from("Top it up.");
        assert_eq!(said(&[top_up(), Advice::Retry]), "Top it up. Ask again.");
        assert_eq!(
            said(&[top_up(), Advice::NewSession]),
            "Top it up, or begin a new one."
        );
        assert_eq!(said(&[Advice::NewSession]), "Begin a new one.");
        assert_eq!(said(&[Advice::Compact, Advice::Retry]), "Ask again.");
        assert_eq!(said(&[Advice::Compact]), "");
    }
}
