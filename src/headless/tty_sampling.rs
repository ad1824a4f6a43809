//! Sampling on the command line: shows a server's request to the model and the model's answer, and
//! asks whether to send each. Without a terminal, both are declined.

use super::request_text::RequestText;
use super::tty_form::DECLINE;
use super::tty_reader::TtyReader;
use crate::domain::{SampledAnswer, SamplingRequest, SamplingSection, ServerId};
use crate::protocol::{UserAnswer, UserChoice};
use crate::text::Clean;
use std::sync::Arc;

/// Asks whether to send the request to the model. Returns the user's answer, and a line that reports it
/// if there is no terminal.
pub async fn ask_model(
    tty: Option<Arc<TtyReader>>,
    server: &ServerId,
    request: &SamplingRequest,
    model: &str,
) -> (UserAnswer, Option<String>) {
    let server = Clean::name(server.as_str());
    let Some(tty) = tty else {
        let report = format!(
            "{server} wanted an answer from the model. Declined: there is no terminal to ask on."
        );
        return (UserAnswer::Choice(UserChoice::Decline), Some(report));
    };
    let mut text = RequestText::new(&tty);
    text.add(&format!(
        "{server} wants an answer from your model {}, {}. Lines marked with | are from the server and \
         are all that the model would get:",
        Clean::name(model),
        request.parameters_text()
    ));
    add_sections(&mut text, request.sections());
    if !request.left_out.is_empty() {
        text.add(&format!("Left out: {}.", request.left_out.join(", ")));
    }
    if !text.show(&tty).await {
        return DECLINE;
    }
    let question =
        "Ask the model? (y: ask it, n: decline, x: decline everything from this server) ";
    let answer = confirm(&tty, question).await;
    if answer.0 == UserAnswer::Choice(UserChoice::Send) {
        eprintln!("Asking {}.", Clean::name(model));
    }
    answer
}

/// Asks whether to send the model's answer to the server. Returns no report line, because without a
/// terminal [`ask_model`] has already reported.
pub async fn send_answer(
    tty: Option<Arc<TtyReader>>,
    server: &ServerId,
    answer: &SampledAnswer,
) -> (UserAnswer, Option<String>) {
    let Some(tty) = tty else {
        return (UserAnswer::Choice(UserChoice::Decline), None);
    };
    let cut_off = match answer.is_cut_off {
        true => ", cut off at the token limit",
        false => "",
    };
    let mut text = RequestText::new(&tty);
    let model = Clean::name(&answer.model);
    text.add(&format!("The answer of {model}{cut_off}:"));
    match answer.calls.is_empty() {
        true => text.add_quote(&answer.text),
        false => {
            text.add("It contains calls of the server's own tools, which the server may run.");
            add_sections(&mut text, answer.sections());
        }
    }
    if !text.show(&tty).await {
        return DECLINE;
    }
    let question = format!(
        "Send it to {}? (y: send, n: decline, x: decline everything from it) ",
        Clean::name(server.as_str())
    );
    confirm(&tty, &question).await
}

fn add_sections(text: &mut RequestText, sections: impl Iterator<Item = SamplingSection>) {
    for section in sections {
        text.add(section.heading.as_str());
        text.add_quote(&section.text);
    }
}

async fn confirm(tty: &TtyReader, question: &str) -> (UserAnswer, Option<String>) {
    loop {
        let Some(line) = tty.ask(question).await else {
            return (UserAnswer::Dismissed, None);
        };
        let choice = match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "ㅛ" => UserChoice::Send,
            "n" | "no" | "ㅜ" => UserChoice::Decline,
            "x" | "ㅌ" => UserChoice::DeclineAll,
            _ => continue,
        };
        return (UserAnswer::Choice(choice), None);
    }
}
