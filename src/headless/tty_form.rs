//! Forms of MCP servers on the command line: asks for their values line by line.

use super::tty_pages::print_pages;
use super::tty_reader::TtyReader;
use crate::domain::elicitation::{ElicitationForm, FieldInput, FieldKind, FieldOption, FormField};
use crate::domain::tool::QUOTE_PREFIX;
use crate::protocol::{Question, UserAnswer, UserChoice};
use crate::questions::rows::push_text;
use crate::text::Clean;
use crate::text::styled_line::StyledLine;

/// Maximum number of options printed for one field. The others can be typed.
const OPTIONS_SHOWN_MAX: usize = 50;
/// Maximum number of options listed if several match the typed text.
const MATCHES_SHOWN_MAX: usize = 10;
const REFUSALS: &str = "n: decline, x: decline all from it, c: cancel";
/// The answer to a request, and a line that reports it, if one is needed.
type RequestAnswer = (UserAnswer, Option<String>);

/// Asks whether to fill in the form, for each value, and then whether to send them.
pub async fn ask_form(
    tty: &TtyReader,
    question: &Question,
    form: &ElicitationForm,
) -> RequestAnswer {
    let has_fields = !form.fields.is_empty();
    if has_fields {
        let question = format!("Fill in the form? (y: fill in, {REFUSALS}) ");
        if let Some(refusal) = ask_or_refuse(tty, &question, "y").await {
            return (refusal, None);
        }
    }
    let mut inputs = Vec::new();
    for field in &form.fields {
        match ask_field(tty, field).await {
            Some(input) => inputs.push(input),
            None => return (UserAnswer::Dismissed, None),
        }
    }
    let (question, word) = match (form.secret_fields().is_empty(), has_fields) {
        (false, _) => (
            format!("Type send to send them anyway ({REFUSALS}): "),
            "send",
        ),
        (true, true) => (format!("{} (y: send, {REFUSALS}) ", question.prompt), "y"),
        (true, false) => (format!("{} (y: agree, {REFUSALS}) ", question.prompt), "y"),
    };
    if let Some(refusal) = ask_or_refuse(tty, &question, word).await {
        return (refusal, None);
    }
    match form.answer(&inputs) {
        Ok(values) => (UserAnswer::Form(values), None),
        Err((_, why)) => (UserAnswer::Dismissed, Some(why)),
    }
}

/// Asks until the user types `word` or one of the keys that refuse the request. Returns `None` for `word`.
async fn ask_or_refuse(tty: &TtyReader, question: &str, word: &str) -> Option<UserAnswer> {
    loop {
        let Some(line) = tty.ask(question).await else {
            return Some(UserAnswer::Dismissed);
        };
        match line.trim().to_lowercase().as_str() {
            "n" | "no" | "ㅜ" => return Some(UserAnswer::Choice(UserChoice::Decline)),
            "x" | "ㅌ" => return Some(UserAnswer::Choice(UserChoice::DeclineAll)),
            "c" | "ㅊ" => return Some(UserAnswer::Dismissed),
            typed if typed == word || word == "y" && matches!(typed, "yes" | "ㅛ") => return None,
            _ => {}
        }
    }
}

/// Asks until the value is valid. `None` at the end of input, or if the user refused the request while
/// the description was shown.
async fn ask_field(tty: &TtyReader, field: &FormField) -> Option<FieldInput> {
    if let Some(description) = &field.description {
        let text = Clean::unambiguous(description);
        let mut rows = Vec::new();
        push_text(&mut rows, QUOTE_PREFIX, &text, tty.columns());
        let rows = rows.iter().map(StyledLine::text);
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        if !print_pages(tty, &rows.join("\n"), 0).await {
            return None;
        }
    }
    if let Some(why) = &field.invalid_default {
        eprintln!("{}", Clean::unambiguous_line(why));
    }
    if let FieldKind::Choice(options) | FieldKind::Choices { options, .. } = &field.kind {
        for (index, option) in options.iter().enumerate().take(OPTIONS_SHOWN_MAX) {
            eprintln!("  {}  {}", index + 1, Clean::name(option.label()));
        }
        if options.len() > OPTIONS_SHOWN_MAX {
            let more = options.len() - OPTIONS_SHOWN_MAX;
            eprintln!("  … and {more} more: type a part of a name to find one");
        }
    }
    let required = if field.is_required { " *" } else { "" };
    let mut notes = vec![match &field.kind {
        FieldKind::Choice(_) => "a number".to_owned(),
        FieldKind::Choices { .. } => format!("numbers separated by commas, {}", field.hint()),
        _ => field.hint(),
    }];
    let has_default = matches!(field.check(&field.initial), Ok(Some(_)));
    if has_default {
        notes.push(format!(
            "Enter for {}",
            Clean::unambiguous_line(&field.value_text(&field.initial))
        ));
    }
    notes.retain(|note| !note.is_empty());
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!(" ({})", notes.join("; ")),
    };
    let question = format!("{}{required}{notes}: ", Clean::name(field.label()));
    loop {
        let line = tty.read_line(&question).await?;
        let input = match line.trim().is_empty() && has_default {
            true => Ok(field.initial.clone()),
            false => parse_input(field, &line),
        };
        match input.and_then(|input| field.check(&input).map(|_| input)) {
            Ok(input) => return Some(input),
            Err(why) => eprintln!("{}", Clean::single_line(&why)),
        }
    }
}

fn parse_input(field: &FormField, line: &str) -> Result<FieldInput, String> {
    let typed = line.trim();
    match &field.kind {
        FieldKind::Text(_) | FieldKind::Number(_) => Ok(FieldInput::Text(line.to_owned())),
        FieldKind::Boolean => match typed.to_lowercase().as_str() {
            "" => Ok(FieldInput::Flag(None)),
            "y" | "yes" | "true" | "ㅛ" => Ok(FieldInput::Flag(Some(true))),
            "n" | "no" | "false" | "ㅜ" => Ok(FieldInput::Flag(Some(false))),
            _ => Err("Type y or n.".to_owned()),
        },
        FieldKind::Choice(_) if typed.is_empty() => Ok(FieldInput::Selected(Vec::new())),
        FieldKind::Choice(options) => {
            option_index(options, typed).map(|index| FieldInput::Selected(vec![index]))
        }
        FieldKind::Choices { options, .. } => {
            let parts = typed.split(',').map(str::trim);
            let indices = parts.filter(|part| !part.is_empty());
            let indices = indices.map(|part| option_index(options, part));
            let mut selected = indices.collect::<Result<Vec<_>, _>>()?;
            selected.sort_unstable();
            selected.dedup();
            Ok(FieldInput::Selected(selected))
        }
    }
}

/// Finds an option by its value, title or number, or by a part of its title that no other title contains.
fn option_index(options: &[FieldOption], typed: &str) -> Result<usize, String> {
    let is_named = |option: &FieldOption| option.value == typed || option.label() == typed;
    let by_name = options.iter().position(is_named);
    let by_number = typed.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let found = by_name.or(by_number.filter(|index| *index < options.len()));
    if let Some(index) = found {
        return Ok(index);
    }
    let part = typed.to_lowercase();
    let containing = options
        .iter()
        .enumerate()
        .filter(|(_, option)| option.label().to_lowercase().contains(&part));
    let containing: Vec<usize> = containing.map(|(index, _)| index).collect();
    match containing.as_slice() {
        [] => Err("There is no such option.".to_owned()),
        [only] => Ok(*only),
        several => {
            let shown = several.iter().take(MATCHES_SHOWN_MAX);
            let shown: Vec<String> = shown
                .map(|index| format!("{} {}", index + 1, options[*index].label()))
                .collect();
            let count = several.len();
            let rest = if count > shown.len() { ", …" } else { "" };
            Err(format!(
                "{count} options contain it: {}{rest}",
                shown.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_by_name_number_or_a_part_of_its_name() {
        let options = ["1", "Seoul", "Busan", "Busan Port"].map(|title| FieldOption {
            value: title.to_lowercase(),
            title: Some(title.to_owned()),
        });
        for (typed, index) in [
            ("1", 0),
            ("2", 1),
            ("seoul", 1),
            ("Seo", 1),
            ("Busan", 2),
            ("port", 3),
        ] {
            assert_eq!(option_index(&options, typed), Ok(index), "{typed}");
        }
        for (typed, why) in [
            ("5", "There is no such option."),
            ("bu", "2 options contain it: 3 Busan, 4 Busan Port"),
        ] {
            assert_eq!(option_index(&options, typed), Err(why.to_owned()));
        }
    }
}
