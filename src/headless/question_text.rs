//! Questions as one line of text, and the choice made without an answer.

use crate::domain::{Dialect, ServerId};
use crate::protocol::{Ask, UserChoice};
use crate::text::Clean;

pub(super) fn question_text(question: &Ask) -> String {
    match question {
        Ask::ApproveCalls(_) => "The model wants to call tools.".to_owned(),
        Ask::UnusableCall { .. } => "The model's tool call is unusable again.".to_owned(),
        Ask::ChooseServer { tool, servers, .. } => {
            let names: Vec<&str> = servers.iter().map(ServerId::as_str).collect();
            let text = format!("Several servers have `{tool}`: {}.", names.join(", "));
            Clean::single_line(&text).as_str().to_owned()
        }
        Ask::AfterError { .. } => {
            "A tool failed, and the model wants to call more tools.".to_owned()
        }
        Ask::Stalled { seconds } => format!("No output from the model for {seconds} s."),
        Ask::RemoveModel {
            name,
            server,
            is_in_use,
            ..
        } => {
            let in_use = if *is_in_use {
                ", the model in use,"
            } else {
                ""
            };
            format!("Remove `{name}`{in_use} from {}?", server.url)
        }
        Ask::RoundLimit {
            rounds,
            was_told_to_answer,
            ..
        } => round_limit_text(*rounds, *was_told_to_answer),
        Ask::GrowContext { estimate, from, to } => format!(
            "The request needs about {estimate} tokens, but the context has {from}. It can grow to {to} if `options.num_ctx` allows it."
        ),
        Ask::SaveDialect { to: None, .. } => "The probe has ended.".to_owned(),
        Ask::SaveDialect { report, to } => {
            let dialect = to.map_or("", Dialect::name);
            let name = Clean::single_line(&report.model.name);
            format!("Save `{dialect}` as `toolCalls` of {}?", name.as_str())
        }
        Ask::ExternalEdit(_) => "The settings files were changed by another program.".to_owned(),
        Ask::ReplacePrompt { .. } => "The system prompt is out of date.".to_owned(),
        Ask::UseNotesFolder { folder, .. } => {
            format!("Use {} for notes?", Clean::unambiguous_line(folder))
        }
        Ask::UnfinishedTurn(_) => "An earlier turn is unfinished.".to_owned(),
        Ask::ConfirmDiscard { .. } => "Discard the unfinished turn?".to_owned(),
        Ask::PinChanged(change) => {
            let (tool, server) = (&change.tool.name, &change.server);
            Clean::single_line(&format!(
                "`{tool}` of {server} changed since it was first seen or accepted. Start `humble` to see the difference."
            ))
            .as_str()
            .to_owned()
        }
        Ask::FillForm { server, .. }
        | Ask::VisitPage { server, .. }
        | Ask::PageVisited { server, .. }
        | Ask::AskModel { server, .. }
        | Ask::SendModelAnswer { server, .. } => request_text(server, question),
        Ask::SendInstructions { server, .. } => {
            Clean::single_line(&format!("{server} has instructions for the model."))
                .as_str()
                .to_owned()
        }
    }
}

fn round_limit_text(rounds: u32, was_told_to_answer: bool) -> String {
    match (was_told_to_answer, rounds) {
        (true, _) => "The model was told to answer now, but still wants to call tools.".to_owned(),
        (_, 1) => "The model has called tools in 1 round.".to_owned(),
        _ => format!("The model has called tools in {rounds} rounds."),
    }
}

fn request_text(server: &ServerId, question: &Ask) -> String {
    let name = Clean::name(server.as_str());
    match question {
        Ask::VisitPage { .. } => format!("{name} asks you to open a page."),
        Ask::PageVisited { host, .. } => format!(
            "{name} runs the call only after you have visited {}.",
            Clean::unambiguous_line(host)
        ),
        Ask::AskModel { .. } => format!("{name} wants an answer from your model."),
        Ask::SendModelAnswer { .. } => format!("The answer for {name} is ready."),
        _ => format!("{name} asks for values."),
    }
}

pub(super) fn default_choice(question: &Ask) -> UserChoice {
    match question {
        Ask::RoundLimit {
            was_told_to_answer: false,
            ..
        } => UserChoice::AnswerNow,
        Ask::ChooseServer { .. } => UserChoice::TellModel,
        // JSON that names no tool may be the answer that the user asked for.
        Ask::UnusableCall { raw, .. } if raw.starts_with(['{', '[']) => UserChoice::TreatAsText,
        Ask::ExternalEdit(_) | Ask::ReplacePrompt { .. } => UserChoice::Stop,
        Ask::UnfinishedTurn(_) | Ask::ConfirmDiscard { .. } => UserChoice::KeepForLater,
        _ => UserChoice::Stop,
    }
}
