//! What MCP servers ask: a form, a web page, and an answer of the model. Before each text of the server
//! stands a mark.

use super::{C, paragraph, question, row};
use crate::domain::{
    ElicitationForm, SampledAnswer, SamplingRequest, SamplingSection, ServerId, UrlElicitation,
};
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;
use std::sync::Arc;

const CANCEL: ChoiceRow = row(
    C::CancelRequest,
    'c',
    "cancel",
    "Cancel: close it without a decision",
);
const DECLINE_ALL: ChoiceRow = row(
    C::DeclineAll,
    'x',
    "decline all",
    "Decline everything it asks in this conversation",
);

pub(super) const FILL_FORM: &[ChoiceRow] = &[
    row(C::FillIn, 'e', "fill in", "Fill in the fields"),
    row(C::Send, 'y', "send", "Send these values to the server"),
    row(C::Decline, 'n', "decline", "Decline: send nothing"),
    CANCEL,
    DECLINE_ALL,
];

/// A form without fields.
pub(super) const AGREE: &[ChoiceRow] = &[
    row(C::Send, 'y', "agree", "Agree: send your consent"),
    row(C::Decline, 'n', "decline", "Decline: do not agree"),
    CANCEL,
    DECLINE_ALL,
];

pub(super) const VISIT_PAGE: &[ChoiceRow] = &[
    row(C::OpenPage, 'y', "open", "Open it in the browser"),
    row(C::CopyAddress, 'u', "copy", "Copy the address"),
    row(
        C::VisitMyself,
        'm',
        "open it myself",
        "Agree, and open it myself",
    ),
    row(C::Decline, 'n', "decline", "Decline: do not open it"),
    CANCEL,
    DECLINE_ALL,
];

pub(super) const PAGE_VISITED: &[ChoiceRow] = &[
    row(
        C::Retry,
        'r',
        "done: run again",
        "I am done there: run the call again",
    ),
    row(C::Stop, 'n', "give up", "Give up the call"),
];

pub(super) const ASK_MODEL: &[ChoiceRow] = &[
    row(
        C::Send,
        'y',
        "ask the model",
        "Ask the model; its answer is shown first",
    ),
    row(C::Decline, 'n', "decline", "Decline: do not ask the model"),
    DECLINE_ALL,
];

pub(super) const SEND_MODEL_ANSWER: &[ChoiceRow] = &[
    row(C::Send, 'y', "send", "Send this answer to the server"),
    row(C::Decline, 'n', "decline", "Decline: send nothing"),
    DECLINE_ALL,
];

fn request(
    kind: &'static str,
    title: &str,
    prompt: &'static str,
    choices: &'static [ChoiceRow],
    server: &ServerId,
    blocks: Vec<Block>,
) -> Question {
    let name = Clean::quoted_if_needed(server.as_str());
    Question {
        title: Clean::single_line(&format!("{title} {name}")),
        default: Some(C::Decline),
        read_first: true,
        server: Some(server.clone()),
        ..question(kind, "", prompt, choices, blocks)
    }
}

/// The server's name, followed by words of our own.
fn introduction(server: &ServerId, text: &'static str) -> Block {
    let mut intro = Clean::name(server.as_str());
    intro.append(&Clean::from_static(text));
    Block::Paragraph(intro)
}

fn quoted(text: &str) -> Option<Block> {
    let quoted = || Block::Quoted {
        heading: Clean::default(),
        text: Clean::unambiguous(text),
    };
    (!text.trim().is_empty()).then(quoted)
}

fn sections(sections: impl Iterator<Item = SamplingSection>) -> impl Iterator<Item = Block> {
    sections.map(|section| Block::Quoted {
        text: Clean::unambiguous(&section.text),
        heading: section.heading,
    })
}

/// A form that a server asks the user to fill in.
pub fn fill_form(server: &ServerId, form: &Arc<ElicitationForm>) -> Question {
    let has_fields = !form.fields.is_empty();
    let intro = match has_fields {
        true => " asks for these values. Lines marked with | are from the server:",
        false => " asks for your agreement. Lines marked with | are from the server:",
    };
    let mut blocks = vec![introduction(server, intro)];
    blocks.extend(quoted(&form.message));
    let secrets = form.secret_fields();
    if !secrets.is_empty() {
        let (looks, values) = match secrets.len() {
            1 => ("looks like a secret", "the value"),
            _ => ("look like secrets", "the values"),
        };
        let names = secrets
            .into_iter()
            .map(|name| format!("`{}`", Clean::name(name)));
        let names: Vec<String> = names.collect();
        blocks.push(Block::Warning(Clean::escaped(&format!(
            "{} {looks}. A server must not ask for secrets in a form: {values} would pass through this \
             program as plain text.",
            names.join(", ")
        ))));
    }
    blocks.push(Block::Form(Arc::clone(form)));
    let (prompt, choices) = match has_fields {
        true => ("Send these values?", FILL_FORM),
        false => ("Do you agree?", AGREE),
    };
    request("form", "Form from", prompt, choices, server, blocks)
}

/// A web page that a server asks the user to visit.
pub fn visit_page(server: &ServerId, page: &UrlElicitation) -> Question {
    let intro = format!(
        "{} asks you to open a page on {}. Nothing is opened unless you choose to. Lines marked with | \
         are from the server:",
        Clean::name(server.as_str()),
        Clean::unambiguous_line(&page.host)
    );
    let mut blocks = vec![paragraph(&intro)];
    blocks.extend(quoted(&page.message));
    blocks.push(Block::Pairs(vec![
        ("Host", Clean::unambiguous_line(&page.host)),
        ("Address", Clean::unambiguous_line(&page.url)),
    ]));
    let warnings = page
        .warnings
        .iter()
        .map(|warning| Clean::escaped(&warning.sentence()));
    blocks.extend(warnings.map(Block::Warning));
    Question {
        address: Some(page.url.clone()),
        ..request(
            "web_page",
            "Web page from",
            "Open it?",
            VISIT_PAGE,
            server,
            blocks,
        )
    }
}

/// Whether the user is done on a page that a call requires; the call is then repeated.
pub fn page_visited(server: &ServerId, host: &str) -> Question {
    let intro = " runs the call only after you have visited this page. The question closes by itself if the \
                 server notices that you are done.";
    let blocks = vec![
        introduction(server, intro),
        Block::Pairs(vec![("Host", Clean::unambiguous_line(host))]),
    ];
    Question {
        default: Some(C::Stop),
        read_first: false,
        ..request(
            "web_page_visited",
            "Web page from",
            "Are you done there?",
            PAGE_VISITED,
            server,
            blocks,
        )
    }
}

/// Whether to ask the model, by its name in the settings, for an answer that a server requests. Shows
/// the full text that the model would receive.
pub fn ask_model(server: &ServerId, sampling: &SamplingRequest, model: &str) -> Question {
    let intro = format!(
        "{} wants an answer from your model {}, {}. Lines marked with | are from the server and are all that \
         the model would get:",
        Clean::name(server.as_str()),
        Clean::name(model),
        sampling.parameters_text()
    );
    let mut blocks = vec![paragraph(&intro)];
    blocks.extend(sections(sampling.sections()));
    if !sampling.left_out.is_empty() {
        blocks.push(paragraph(&format!(
            "Left out: {}.",
            sampling.left_out.join(", ")
        )));
    }
    request(
        "ask_model",
        "Request from",
        "Ask the model?",
        ASK_MODEL,
        server,
        blocks,
    )
}

/// The model's answer, before the server gets it.
pub fn send_model_answer(server: &ServerId, answer: &SampledAnswer) -> Question {
    let cut_off = match answer.is_cut_off {
        true => " It was cut off at the token limit.",
        false => "",
    };
    let [server_name, model] = [server.as_str(), &answer.model].map(Clean::name);
    let intro = format!("{server_name} gets this answer from {model} if you send it.{cut_off}");
    let mut blocks = vec![paragraph(&intro)];
    match answer.calls.is_empty() {
        true => blocks.extend(quoted(&answer.text)),
        false => {
            blocks.push(paragraph(
                "It contains calls of the server's own tools, which the server may run.",
            ));
            blocks.extend(sections(answer.sections()));
        }
    }
    request(
        "send_model_answer",
        "Answer for",
        "Send it to the server?",
        SEND_MODEL_ANSWER,
        server,
        blocks,
    )
}
