//! Advice for somebody without the screen: what `humble` on the command line can do.

use crate::domain::advice::join_sentences;
use crate::domain::{Advice, Notice};

/// A notice on one line, raw.
pub fn notice_line(notice: &Notice) -> String {
    notice.to_sentence(advice_phrase)
}

/// All advice of a notice, raw; none where nothing of it helps without the screen.
pub fn advice_text(notice: &Notice) -> Option<String> {
    join_sentences(&notice.advice, advice_phrase)
}

fn advice_phrase(advice: &Advice) -> Option<String> {
    let words = match advice {
        Advice::Sentence(sentence) => sentence,
        Advice::Retry => "Run it again.",
        Advice::RetryLater => "Wait a little, then run it again.",
        Advice::Continue => "With --save, --continue can go on from there.",
        Advice::WaitOrStop => "Wait for it, or stop it with Ctrl+C.",
        Advice::Stop => "Ctrl+C stops it if that is not wanted.",
        Advice::SelectModel => "Use --model to choose a model.",
        Advice::ChooseOtherModel => "Choose another model with --model.",
        Advice::ChooseLargerContext => "Choose a model with a larger context.",
        Advice::AddModel => "`humble models` shows what a running Ollama has.",
        Advice::ResumePull(name) => {
            return Some(format!(
                "`humble models pull {name}` goes on where it stopped."
            ));
        }
        Advice::Probe => "`humble probe` finds out what works best.",
        Advice::Compact => "Send a shorter prompt, or ask without --continue.",
        Advice::NewSession => "Ask without --continue.",
        Advice::ReviewTrust => "Start `humble` to see what changed.",
        // Only the screen can do these.
        Advice::ResendPrompt
        | Advice::ListModels
        | Advice::UsePulledModel
        | Advice::StopPull
        | Advice::RetryCompact
        | Advice::ListSessions
        | Advice::SetTitle
        | Advice::ListBranches
        | Advice::MakePrivate
        | Advice::ResumeSaving
        | Advice::ShowLog
        | Advice::Reload
        | Advice::ReplaceSystemPrompt
        | Advice::DisableTools
        | Advice::ReviewInstructions => return None,
    };
    Some(words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_that_needs_the_screen_is_omitted() {
        let notice = |advice: &[Advice]| {
            let mut notice = Notice::failure("It failed.");
            notice.advice = advice.to_vec();
            notice
        };
        let both = notice(&[Advice::ShowLog, "Start the server.".into()]);
        assert_eq!(notice_line(&both), "It failed. Start the server.");
        let one = notice(&[Advice::ListSessions]);
        assert_eq!(
            (notice_line(&one).as_str(), advice_text(&one)),
            ("It failed.", None)
        );
        let shorter = notice(&[Advice::Compact, Advice::ChooseOtherModel]);
        let expected = "Send a shorter prompt, or ask without --continue, or choose another model with --model.";
        assert_eq!(advice_text(&shorter).as_deref(), Some(expected));
    }
}
