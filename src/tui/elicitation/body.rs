//! The review of a form, and the description of a web page, as rows of a dialog.

use crate::domain::ServerId;
use crate::domain::elicitation::{FieldInput, FieldKind, FormField, UrlElicitation};
use crate::domain::tool::QUOTE_PREFIX;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::elicitation::form_state::FormState;
use crate::tui::widgets::painter::wrapped_rows;
use crate::tui::widgets::styled_line::StyledLine;

const LABEL_COLUMNS_MAX: usize = 28;
const WARNING: &str = "Warning: ";

/// The review of a form: who asks, why, and the values that would be sent.
pub fn form_rows(server: &ServerId, state: &FormState, columns: u16) -> Vec<StyledLine> {
    let intro = match state.form().fields.is_empty() {
        true => " asks for your agreement. Lines marked with | are from the server:",
        false => " asks for these values. Lines marked with | are from the server:",
    };
    let mut rows = introduction(server, intro, columns);
    push_quote(&mut rows, &state.form().message, columns);
    let secrets = state.form().secret_fields();
    if !secrets.is_empty() {
        let (looks, values) = match secrets.len() {
            1 => ("looks like a secret", "the value"),
            _ => ("look like secrets", "the values"),
        };
        let names: Vec<String> = secrets.into_iter().map(quoted).collect();
        let text = format!(
            "{} {looks}. A server must not ask for secrets in a form: {values} would \
             pass through this program as plain text.",
            names.join(", ")
        );
        rows.push(StyledLine::default());
        push_warning(&mut rows, &Clean::escaped(&text), columns);
    }
    if !state.form().fields.is_empty() {
        rows.push(StyledLine::default());
    }
    let labels = state
        .form()
        .fields
        .iter()
        .map(|field| width(label(field).as_str()));
    let label_columns = labels.max().unwrap_or(0).min(LABEL_COLUMNS_MAX);
    for (field, input) in state.form().fields.iter().zip(state.inputs()) {
        push_value(&mut rows, field, &input, label_columns, columns);
    }
    if state.form().fields.iter().any(|field| field.is_required) {
        rows.push(StyledLine::default());
        let mut row = StyledLine::default();
        row.push_dim("* required");
        rows.push(row);
    }
    rows
}

pub(super) fn label(field: &FormField) -> Clean {
    let mut label = Clean::name(field.label());
    if field.is_required {
        label.append(&Clean::from_static(" *"));
    }
    label
}

fn push_value(
    rows: &mut Vec<StyledLine>,
    field: &FormField,
    input: &FieldInput,
    label_columns: usize,
    columns: u16,
) {
    let label_room = u16::try_from(label_columns).unwrap_or(u16::MAX).max(1);
    let labels = wrapped_rows(&label(field), label_room);
    let (value, complaint) = match field.check(input) {
        Ok(Some(_)) => (value_text(field, input), None),
        Ok(None) => (String::new(), Some("not sent".to_owned())),
        Err(why) => (value_text(field, input), Some(why.to_string())),
    };
    let room = columns.saturating_sub(label_columns as u16 + 2).max(8);
    // The complaint has rows of its own, so that no value can be mistaken for a part of it.
    let rows_of = |text: &str, is_complaint: bool| {
        let rows = match text.trim() {
            "" => Vec::new(),
            text => wrapped_rows(&Clean::unambiguous_line(text), room),
        };
        rows.into_iter().map(move |row| (row, is_complaint))
    };
    let values = rows_of(&value, false);
    let mut values = values.chain(rows_of(&complaint.unwrap_or_default(), true));
    let mut labels = labels.into_iter();
    loop {
        let (label, value) = (labels.next(), values.next());
        if label.is_none() && value.is_none() {
            break;
        }
        let mut row = StyledLine::default();
        row.push_bold(label.unwrap_or_default());
        row.pad_to(label_columns + 2);
        let (value, is_complaint) = value.unwrap_or_default();
        match is_complaint {
            true => row.push_dim(value),
            false => row.push_plain(value),
        }
        rows.push(row);
    }
    if let Some(why) = &field.invalid_default {
        for text in wrapped_rows(&Clean::unambiguous_line(why), room) {
            let mut row = StyledLine::default();
            row.pad_to(label_columns + 2);
            row.push_dim(text);
            rows.push(row);
        }
    }
    if let Some(description) = &field.description {
        push_quote(rows, description, columns);
    }
}

pub(super) fn value_text(field: &FormField, input: &FieldInput) -> String {
    match (&field.kind, input) {
        (_, FieldInput::Text(text)) => text.clone(),
        (_, FieldInput::Flag(flag)) => match flag {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => String::new(),
        },
        (
            FieldKind::Choice(options) | FieldKind::Choices { options, .. },
            FieldInput::Selected(selected),
        ) => {
            let options = selected.iter().filter_map(|index| options.get(*index));
            options
                .map(|option| option.label())
                .collect::<Vec<_>>()
                .join(", ")
        }
        (_, FieldInput::Selected(_)) => String::new(),
    }
}

/// A page that a server asks the user to visit.
pub fn page_rows(server: &ServerId, page: &UrlElicitation, columns: u16) -> Vec<StyledLine> {
    let intro = " asks you to open a page. Nothing is opened unless you choose to. \
                 Lines marked with | are from the server:";
    let mut rows = introduction(server, intro, columns);
    push_quote(&mut rows, &page.message, columns);
    rows.push(StyledLine::default());
    push_host(&mut rows, &page.host, columns);
    push_labeled(
        &mut rows,
        "Address  ",
        &page.url,
        columns,
        StyledLine::push_plain,
    );
    for warning in &page.warnings {
        push_warning(&mut rows, &Clean::escaped(&warning.sentence()), columns);
    }
    rows
}

/// A page that a call requires and the user has agreed to visit.
pub fn visited_rows(server: &ServerId, host: &str, columns: u16) -> Vec<StyledLine> {
    let text = " runs the call only after you have visited this page. The question closes by itself \
                if the server notices that you are done.";
    let mut rows = introduction(server, text, columns);
    push_host(&mut rows, host, columns);
    rows
}

/// Appends a host, wrapped: its end says whose it is, so it must never be cut.
fn push_host(rows: &mut Vec<StyledLine>, host: &str, columns: u16) {
    push_labeled(rows, "Host     ", host, columns, StyledLine::push_bold);
}

fn push_labeled(
    rows: &mut Vec<StyledLine>,
    label: &'static str,
    text: &str,
    columns: u16,
    push: impl Fn(&mut StyledLine, String),
) {
    let room = columns.saturating_sub(label.len() as u16).max(8);
    let wrapped = wrapped_rows(&Clean::unambiguous_line(text), room);
    for (index, text) in wrapped.into_iter().enumerate() {
        let mut row = StyledLine::default();
        match index {
            0 => row.push_plain(label),
            _ => row.pad_to(label.len()),
        }
        push(&mut row, text);
        rows.push(row);
    }
}

fn introduction(server: &ServerId, text: &'static str, columns: u16) -> Vec<StyledLine> {
    let mut intro = Clean::name(server.as_str());
    intro.append(&Clean::from_static(text));
    let rows = wrapped_rows(&intro, columns);
    let mut rows: Vec<StyledLine> = rows.into_iter().map(StyledLine::from).collect();
    rows.push(StyledLine::default());
    rows
}

/// Appends a text of our own, wrapped.
pub(super) fn push_text(rows: &mut Vec<StyledLine>, text: &str, columns: u16) {
    let wrapped = wrapped_rows(&Clean::escaped(text), columns);
    rows.extend(wrapped.into_iter().map(StyledLine::from));
}

/// Appends a text that is not ours, with a mark before each row, so that none can be mistaken for
/// ours.
pub(super) fn push_quote(rows: &mut Vec<StyledLine>, text: &str, columns: u16) {
    let room = columns.saturating_sub(QUOTE_PREFIX.len() as u16).max(1);
    for row in wrapped_rows(&Clean::unambiguous(text), room) {
        rows.push(StyledLine::from(format!("{QUOTE_PREFIX}{row}")));
    }
}

fn push_warning(rows: &mut Vec<StyledLine>, text: &Clean, columns: u16) {
    let room = columns.saturating_sub(WARNING.len() as u16).max(8);
    for (index, text) in wrapped_rows(text, room).into_iter().enumerate() {
        let mut row = StyledLine::default();
        match index {
            0 => row.push_bold(WARNING),
            _ => row.pad_to(WARNING.len()),
        }
        row.push_plain(text);
        rows.push(row);
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", Clean::name(name))
}

pub(super) fn shortened(text: &str, columns: usize) -> String {
    match width(text) <= columns {
        true => text.to_owned(),
        false => format!("{}…", truncate_to_width(text, columns.saturating_sub(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::elicitation::ElicitationForm;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn the_reason_why_a_value_is_wrong_has_its_own_rows() {
        let params = json!({ "message": "", "requestedSchema": { "properties": {
            "uri": { "type": "string", "format": "uri" },
        } } });
        let form = ElicitationForm::from_params(&params).expect("a valid form");
        let mut state = FormState::new(Arc::new(form));
        state.paste("not a uri");
        let rows = form_rows(&"shop".into(), &state, 80);
        let rows: Vec<String> = rows.iter().map(StyledLine::text).collect();
        assert!(rows.contains(&"uri  not a uri".to_owned()), "{rows:#?}");
        assert!(
            rows.iter().any(|row| row.starts_with("     Expected")),
            "{rows:#?}"
        );
    }

    #[test]
    fn a_long_host_is_shown_to_its_end() {
        let host = format!(
            "sso.session-{}.accounts.google.com.evil.example",
            "0".repeat(37)
        );
        let params = json!({ "message": "", "url": format!("https://{host}/login") });
        let page = UrlElicitation::from_params(&params).expect("a web address");
        for columns in [30, 60, 76, 118] {
            for rows in [
                page_rows(&"shop".into(), &page, columns),
                visited_rows(&"shop".into(), &page.host, columns),
            ] {
                let rows: Vec<String> = rows.iter().map(StyledLine::text).collect();
                assert!(
                    rows.iter()
                        .all(|row| width(row.trim_end()) <= columns.into()),
                    "{rows:#?}"
                );
                let shown = rows.iter().skip_while(|row| !row.starts_with("Host"));
                let shown = shown.take_while(|row| !row.starts_with("Address"));
                let shown: String = shown.map(|row| row.get(9..).unwrap_or_default()).collect();
                assert_eq!(shown, host);
            }
        }
    }

    #[test]
    fn unusual_characters_of_labels_are_escaped_once() {
        let params = json!({ "message": "Your account", "requestedSchema": { "properties": {
            "a": { "type": "string", "title": "OK\u{200b}?" },
            "b": { "type": "string", "title": "p\u{430}ssword" },
            "password": { "type": "string" },
        } } });
        let form = ElicitationForm::from_params(&params).expect("a valid form");
        let rows = form_rows(&"shop".into(), &FormState::new(Arc::new(form)), 200);
        let review: Vec<String> = rows.iter().map(StyledLine::text).collect();
        let review = review.join("\n");
        for shown in [
            "OK⟨U+200B⟩?",
            "p⟨U+0430⟩ssword",
            "`password` look like secrets",
        ] {
            assert!(review.contains(shown), "{shown} in {review}");
        }
        assert!(!review.contains("U+27E8"), "{review}");
        assert!(!review.contains('\u{430}'), "{review}");
    }
}
