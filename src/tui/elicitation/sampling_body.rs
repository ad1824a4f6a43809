//! A server's request to the model, and the model's answer, as rows of a dialog.

use crate::domain::{SampledAnswer, SamplingRequest, SamplingSection, ServerId};
use crate::text::Clean;
use crate::tui::elicitation::body::{push_quote, push_text};
use crate::tui::widgets::styled_line::StyledLine;

/// The server, the model, the limits of the answer, and the full text that the model would receive.
pub fn request_rows(
    server: &ServerId,
    request: &SamplingRequest,
    model: &str,
    columns: u16,
) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    let intro = format!(
        "{} wants an answer from your model {}, {}. Lines marked with | are from the server and are all \
         that the model would get:",
        Clean::name(server.as_str()),
        Clean::name(model),
        request.parameters_text()
    );
    push_text(&mut rows, &intro, columns);
    push_sections(&mut rows, request.sections(), columns);
    if !request.left_out.is_empty() {
        rows.push(StyledLine::default());
        let text = format!("Left out: {}.", request.left_out.join(", "));
        push_text(&mut rows, &text, columns);
    }
    rows
}

/// The model's answer, before the server gets it.
pub fn answer_rows(server: &ServerId, answer: &SampledAnswer, columns: u16) -> Vec<StyledLine> {
    let cut_off = match answer.is_cut_off {
        true => " It was cut off at the token limit.",
        false => "",
    };
    let intro = format!(
        "{} gets this answer from {} if you send it.{cut_off}",
        Clean::name(server.as_str()),
        Clean::name(&answer.model),
    );
    let mut rows = Vec::new();
    push_text(&mut rows, &intro, columns);
    match answer.calls.is_empty() {
        true => {
            rows.push(StyledLine::default());
            push_quote(&mut rows, &answer.text, columns);
        }
        false => {
            let note = "It contains calls of the server's own tools, which the server may run.";
            push_text(&mut rows, note, columns);
            push_sections(&mut rows, answer.sections(), columns);
        }
    }
    rows
}

fn push_sections(
    rows: &mut Vec<StyledLine>,
    sections: impl Iterator<Item = SamplingSection>,
    columns: u16,
) {
    for section in sections {
        rows.push(StyledLine::default());
        push_text(rows, section.heading.as_str(), columns);
        push_quote(rows, &section.text, columns);
    }
}
