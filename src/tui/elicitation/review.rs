//! The review of a form as rows of a dialog.

use crate::domain::elicitation::{FieldInput, FormField};
use crate::domain::tool::QUOTE_PREFIX;
use crate::questions::rows::push_text;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::styled_line::StyledLine;
use crate::tui::elicitation::form_state::FormState;
use crate::tui::widgets::painter::wrapped_rows;

const LABEL_COLUMNS_MAX: usize = 28;

/// The values of a form that would be sent, below the rows that say who asks for them.
pub fn value_rows(state: &FormState, columns: u16) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    let fields = &state.form().fields;
    if fields.is_empty() {
        return rows;
    }
    rows.push(StyledLine::default());
    let labels = fields.iter().map(|field| width(label(field).as_str()));
    let label_columns = labels.max().unwrap_or(0).min(LABEL_COLUMNS_MAX);
    for (field, input) in fields.iter().zip(state.inputs()) {
        push_value(&mut rows, field, &input, label_columns, columns);
    }
    if fields.iter().any(|field| field.is_required) {
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
        Ok(Some(_)) => (field.value_text(input), None),
        Ok(None) => (String::new(), Some("not sent".to_owned())),
        Err(why) => (field.value_text(input), Some(why.to_string())),
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

/// Appends a text of the server, with a mark before each row.
pub(super) fn push_quote(rows: &mut Vec<StyledLine>, text: &str, columns: u16) {
    push_text(rows, QUOTE_PREFIX, &Clean::unambiguous(text), columns);
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
        let rows = value_rows(&state, 80);
        let rows: Vec<String> = rows.iter().map(StyledLine::text).collect();
        assert!(rows.contains(&"uri  not a uri".to_owned()), "{rows:#?}");
        assert!(
            rows.iter().any(|row| row.starts_with("     Expected")),
            "{rows:#?}"
        );
    }

    #[test]
    fn unusual_characters_of_labels_are_escaped_once() {
        let params = json!({ "message": "Your account", "requestedSchema": { "properties": {
            "a": { "type": "string", "title": "OK\u{200b}?" },
            "b": { "type": "string", "title": "p\u{430}ssword" },
            "password": { "type": "string" },
        } } });
        let form = ElicitationForm::from_params(&params).expect("a valid form");
        let rows = value_rows(&FormState::new(Arc::new(form)), 200);
        let review: Vec<String> = rows.iter().map(StyledLine::text).collect();
        let review = review.join("\n");
        for shown in ["OK⟨U+200B⟩?", "p⟨U+0430⟩ssword"] {
            assert!(review.contains(shown), "{shown} in {review}");
        }
        assert!(!review.contains("U+27E8"), "{review}");
        assert!(!review.contains('\u{430}'), "{review}");
    }
}
