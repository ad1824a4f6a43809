//! Sampling on the command line: shows a server's request to the model and the model's answer, and
//! asks whether to send each. Without a terminal, both are declined.

use super::tty_form::print_quote;
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
    eprintln!(
        "{server} wants an answer from your model {}, {}. Lines marked with | are from the server and \
         are all that the model would get:",
        Clean::name(model),
        request.parameters_text()
    );
    print_sections(request.sections());
    if !request.left_out.is_empty() {
        eprintln!("Left out: {}.", request.left_out.join(", "));
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
    eprintln!("The answer of {}{cut_off}:", Clean::name(&answer.model));
    match answer.calls.is_empty() {
        true => print_quote(&answer.text),
        false => {
            eprintln!("It contains calls of the server's own tools, which the server may run.");
            print_sections(answer.sections());
        }
    }
    let question = format!(
        "Send it to {}? (y: send, n: decline, x: decline everything from it) ",
        Clean::name(server.as_str())
    );
    confirm(&tty, &question).await
}

fn print_sections(sections: impl Iterator<Item = SamplingSection>) {
    for section in sections {
        eprintln!("{}", section.heading);
        print_quote(&section.text);
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
