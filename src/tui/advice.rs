//! Advice in the words of the screen: its commands and its keys.

use crate::domain::advice::join_sentences;
use crate::domain::{Advice, Notice};

/// A notice on one line.
pub fn notice_line(notice: &Notice) -> String {
    notice.to_sentence(phrase)
}

/// All of this advice; none where there is none.
pub fn advice_line(advice: &[Advice]) -> Option<String> {
    join_sentences(advice, phrase)
}

fn phrase(advice: &Advice) -> Option<String> {
    let words = match advice {
        Advice::Sentence(sentence) => sentence,
        Advice::Retry => "/retry asks again.",
        Advice::RetryLater => "Wait a little, then /retry.",
        Advice::ResendPrompt => "Enter asks again.",
        Advice::Continue => "/continue goes on from there.",
        Advice::WaitOrStop => "Wait for it, or stop it with Ctrl+C.",
        Advice::Stop => "Ctrl+C stops it if that is not wanted.",
        Advice::SelectModel => "Use /set-model to choose a model.",
        Advice::ChooseOtherModel => "Choose another model with /set-model.",
        Advice::ChooseLargerContext => "Choose a model with a larger context.",
        Advice::AddModel => "/models shows what a running Ollama has and adds it.",
        Advice::ListModels => "/models shows what it has.",
        Advice::UsePulledModel => "Use it with /models.",
        Advice::ResumePull(name) => {
            return Some(format!("/models pull {name} goes on where it stopped."));
        }
        Advice::StopPull => "Wait for it, or stop it with /models stop.",
        Advice::Probe => "/probe finds out what works best.",
        Advice::Compact => "/compact makes it shorter.",
        Advice::RetryCompact => "/compact tries again.",
        Advice::NewSession => "Begin a new one with /new.",
        Advice::ListSessions => "Ctrl+O lists those that there are.",
        Advice::SetTitle => "Say it behind the command: /rename TITLE.",
        Advice::ListBranches => "/branches leads back.",
        Advice::MakePrivate => "/private keeps it off the disk.",
        Advice::ResumeSaving => "/private off saves it again.",
        Advice::ShowLog => "F12 shows the log.",
        Advice::Reload => "/reload asks again.",
        Advice::ReplaceSystemPrompt => {
            "`/system-prompt replace` puts ours in its place and keeps a copy."
        }
        Advice::ReviewTrust => "/trust shows what changed.",
        Advice::DisableTools => "Space in the Servers pane (F2) switches a server or a tool off.",
        Advice::ReviewInstructions => "`i` on the server in the servers pane shows them.",
    };
    Some(words.to_owned())
}
