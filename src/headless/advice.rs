//! Advice in terms of the command line, for notices outside the chat screen.

use crate::domain::advice::join_sentences;
use crate::domain::{Advice, Notice};

/// A notice with its advice on one line, not sanitized.
pub fn notice_line(notice: &Notice) -> String {
    notice.to_sentence(advice_phrase)
}

/// All advice of a notice, not sanitized. `None` if all of it applies only to the chat screen.
pub fn advice_text(notice: &Notice) -> Option<String> {
    join_sentences(&notice.advice, advice_phrase)
}

fn advice_phrase(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::Sentence(sentence) => sentence,
        Advice::Retry => "Run the command again.",
        Advice::RetryLater => "Wait a moment, then run the command again.",
        Advice::Continue => "With --save, you can resume it later with --continue.",
        Advice::WaitOrStop => "Wait for it, or stop it with Ctrl+C.",
        Advice::Stop => "Press Ctrl+C to stop it.",
        Advice::SelectModel => "Use --model to choose a model, or /set-model in `humble`.",
        Advice::ChooseOtherModel => "Choose another model with --model.",
        Advice::ChooseLargerContext => "Choose a model with a larger context.",
        Advice::ChooseImageModel => "Choose another model with --model.",
        Advice::AddModel => "`humble models` lists the models of a running Ollama.",
        Advice::ResumePull(name) => {
            return Some(format!("`humble models pull {name}` resumes the download."));
        }
        Advice::StopThinking => "Set the model's `think` to false in config.json.",
        Advice::Probe => "`humble probe` finds the call format that works best.",
        Advice::Compact => "Send a shorter prompt, or ask without --continue.",
        Advice::NewSession => "Ask without --continue.",
        Advice::ReviewTrust => "Start `humble` to see what changed.",
        Advice::ChooseNotesFolder => "Set `notes.vault` in config.json.",
        // Only the chat screen offers these.
        Advice::ResendPrompt
        | Advice::KeepModel
        | Advice::ListModels
        | Advice::UsePulledModel
        | Advice::StopPull
        | Advice::RetryCompact
        | Advice::ListSessions
        | Advice::SetTitle
        | Advice::ListBranches
        | Advice::MakePrivate
        | Advice::ResumeSaving
        | Advice::OpenNote
        | Advice::ConsultNotes
        | Advice::StopConsulting
        | Advice::BypassNotes
        | Advice::ContinueNote
        | Advice::ShowLog
        | Advice::Reload
        | Advice::ReplaceSystemPrompt
        | Advice::AskBeforeCalls
        | Advice::ListServers
        | Advice::UseResult
        | Advice::DisableServer(_)
        | Advice::ReviewInstructions => return None,
        Advice::SignIn(name) => {
            return Some(format!("`humble mcp login {name}` signs in."));
        }
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_that_needs_the_screen_is_omitted_or_replaced() {
        let notice = |advice: &[Advice]| {
            let mut notice = Notice::failure("It failed.");
            notice.advice = advice.to_vec();
            notice
        };
        let both = notice(&[Advice::ShowLog, "Start the server.".into()]);
        assert_eq!(notice_line(&both), "It failed. Start the server.");
        let screen_only = notice(&[Advice::ListSessions]);
        assert_eq!(
            (
                notice_line(&screen_only).as_str(),
                advice_text(&screen_only)
            ),
            ("It failed.", None)
        );
        let shorter = notice(&[Advice::Compact, Advice::ChooseOtherModel]);
        let expected = "Send a shorter prompt, or ask without --continue, or choose another model with --model.";
        assert_eq!(advice_text(&shorter).as_deref(), Some(expected));
    }
}
