//! The wording of advice in the full-screen program. It names commands rather than keys, because
//! the user may have changed the keys; only Ctrl+C always works.

use crate::domain::advice::join_sentences;
use crate::domain::{Advice, Notice};

/// A notice with its advice, on one line.
pub fn notice_line(notice: &Notice) -> String {
    notice.to_sentence(phrase)
}

/// All advice as sentences; `None` if there is none.
pub fn advice_line(advice: &[Advice]) -> Option<String> {
    join_sentences(advice, phrase)
}

fn phrase(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::Sentence(sentence) => sentence,
        Advice::Retry => "/retry tries again.",
        Advice::RetryLater => "Wait a moment, then use /retry.",
        Advice::ResendPrompt => "Send it again.",
        Advice::Continue => "/continue resumes from there.",
        Advice::WaitOrStop => "Wait for it to finish, or stop it with Ctrl+C.",
        Advice::Stop => "Press Ctrl+C to stop it.",
        Advice::SelectModel => "Use /set-model to choose a model.",
        Advice::ChooseOtherModel => "Choose another model with /set-model.",
        Advice::ChooseLargerContext => "Choose a model with a larger context.",
        Advice::ChooseImageModel => {
            "Remove them with /detach, or choose another model with /set-model."
        }
        Advice::AddModel => "Use /models to add one from a running Ollama.",
        Advice::KeepModel => "/models keep adds it to config.json.",
        Advice::ListModels => "/models lists its models.",
        Advice::UsePulledModel => "Select it with /models.",
        Advice::ResumePull(name) => {
            return Some(format!("/models pull {name} resumes the download."));
        }
        Advice::StopPull => "Wait for it, or stop it with /models stop.",
        Advice::StopThinking => "Switch thinking off with /think off.",
        Advice::Probe => "/probe tests which format works best.",
        Advice::Compact => "/compact shortens it.",
        Advice::RetryCompact => "/compact tries again.",
        Advice::NewSession => "Start a new conversation with /new.",
        Advice::ListSessions => "/sessions lists the saved ones.",
        Advice::SetTitle => "Usage: /rename TITLE",
        Advice::ListBranches => "/branches switches back.",
        Advice::MakePrivate => "/private keeps it off the disk.",
        Advice::ResumeSaving => "/private off resumes saving.",
        Advice::ChooseNotesFolder => "/notes PATH uses a folder of Markdown files.",
        Advice::OpenNote => "/note PATH opens one.",
        Advice::ConsultNotes => "/notes on sends them.",
        Advice::StopConsulting => "/notes off stops that.",
        Advice::BypassNotes => "/chat PROMPT skips the search.",
        Advice::ContinueNote => "/continue completes and saves it.",
        Advice::ShowLog => "/log shows the log.",
        Advice::Reload => "/reload asks again.",
        Advice::ReplaceSystemPrompt => {
            "`/system-prompt replace` installs the built-in prompt and keeps a copy of yours."
        }
        Advice::UseResult => "It is attached to your message; /detach removes it.",
        Advice::AskBeforeCalls => "/set-tool-mode manual asks again.",
        Advice::ReviewTrust => "/trust shows what changed.",
        Advice::DisableServer(name) => {
            return Some(format!("`/mcp {name} off` switches it off."));
        }
        Advice::SignIn(name) => return Some(format!("`/mcp {name} login` signs in.")),
        Advice::ListServers => "In /mcp, switch on those that you trust.",
        Advice::ReviewInstructions => "To read them, use `/mcp NAME instructions`.",
    };
    Some(text.to_owned())
}
