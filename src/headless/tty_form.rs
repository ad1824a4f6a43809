//! Requests from MCP servers on the command line: asks for the values of a form line by line, and
//! describes a web page before it is opened. Without a terminal, both are declined.

use super::request_text::RequestText;
use super::tty_reader::TtyReader;
use crate::domain::ServerId;
use crate::domain::elicitation::{
    ElicitationForm, FieldInput, FieldKind, FieldOption, FormField, UrlElicitation,
};
use crate::protocol::{UserAnswer, UserChoice};
use crate::text::Clean;
use std::sync::Arc;

/// Maximum number of options printed for one field. The others can be typed.
const OPTIONS_SHOWN_MAX: usize = 50;
/// Maximum number of options listed if several match the typed text.
const MATCHES_SHOWN_MAX: usize = 10;
const REFUSALS: &str = "n: decline, x: decline all from it, c: cancel";
const DECLINED: &str = "Declined: there is no terminal to ask on.";

/// The answer to a request, and a line that reports it, if one is needed.
type RequestAnswer = (UserAnswer, Option<String>);

pub(super) const DECLINE: RequestAnswer = (UserAnswer::Choice(UserChoice::Decline), None);

/// Asks whether to fill in the form, for each value, and then whether to send them.
pub async fn ask_form(
    tty: Option<Arc<TtyReader>>,
    server: &ServerId,
    form: &ElicitationForm,
) -> RequestAnswer {
    let server = Clean::name(server.as_str());
    let Some(tty) = tty else {
        let report = format!("{server} asked for values. {DECLINED}");
        return (UserAnswer::Choice(UserChoice::Decline), Some(report));
    };
    let has_fields = !form.fields.is_empty();
    let wanted = match form.fields.len() {
        0 => "your agreement".to_owned(),
        1 => "a value".to_owned(),
        count => format!("{count} values"),
    };
    let mut text = RequestText::new(&tty);
    text.add(&format!(
        "{server} asks for {wanted}. Lines marked with | are from the server:"
    ));
    text.add_quote(&form.message);
    if !text.show(&tty).await {
        return DECLINE;
    }
    if has_fields {
        let question = format!("Fill in the form? (y: fill in, {REFUSALS}) ");
        if let Some(refusal) = ask_or_refuse(&tty, &question, "y").await {
            return (refusal, None);
        }
    }
    let mut inputs = Vec::new();
    for field in &form.fields {
        match ask_field(&tty, field).await {
            Some(input) => inputs.push(input),
            None => return (UserAnswer::Dismissed, None),
        }
    }
    let secrets = form.secret_fields();
    let (question, word) = match secrets.is_empty() {
        true if !has_fields => (format!("Do you agree? (y: agree, {REFUSALS}) "), "y"),
        true => (
            format!("Send these values to {server}? (y: send, {REFUSALS}) "),
            "y",
        ),
        false => {
            let names = Clean::single_line(&secrets.join(", "));
            eprintln!("Warning: a server must not ask for secrets in a form: {names}");
            (
                format!("Type send to send them to {server} anyway ({REFUSALS}): "),
                "send",
            )
        }
    };
    if let Some(refusal) = ask_or_refuse(&tty, &question, word).await {
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
        let mut text = RequestText::new(tty);
        text.add_quote(description);
        if !text.show(tty).await {
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
        notes.push(format!("Enter for {}", input_text(field, &field.initial)));
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

fn input_text(field: &FormField, input: &FieldInput) -> String {
    let text = match (&field.kind, input) {
        (_, FieldInput::Text(text)) => text.clone(),
        (_, FieldInput::Flag(flag)) => match flag {
            Some(true) => "yes".to_owned(),
            _ => "no".to_owned(),
        },
        (
            FieldKind::Choice(options) | FieldKind::Choices { options, .. },
            FieldInput::Selected(selected),
        ) => {
            let options = selected.iter().filter_map(|index| options.get(*index));
            let labels: Vec<_> = options.map(FieldOption::label).collect();
            labels.join(", ")
        }
        (_, FieldInput::Selected(_)) => String::new(),
    };
    Clean::unambiguous_line(&text).as_str().to_owned()
}

/// Describes the page and asks whether to open it.
pub async fn ask_page(
    tty: Option<Arc<TtyReader>>,
    server: &ServerId,
    page: &UrlElicitation,
) -> RequestAnswer {
    let server = Clean::name(server.as_str());
    let Some(tty) = tty else {
        let report = format!("{server} asked to open a page on {}. {DECLINED}", page.host);
        return (UserAnswer::Choice(UserChoice::Decline), Some(report));
    };
    let mut text = RequestText::new(&tty);
    text.add(&format!(
        "{server} asks you to open a page. Lines marked with | are from the server:"
    ));
    text.add_quote(&page.message);
    text.add(&format!("Host:    {}", Clean::unambiguous_line(&page.host)));
    text.add(&format!("Address: {}", Clean::unambiguous_line(&page.url)));
    for warning in &page.warnings {
        let warning = warning.sentence();
        text.add(&format!("Warning: {}", Clean::unambiguous_line(&warning)));
    }
    if !text.show(&tty).await {
        return DECLINE;
    }
    let question = format!("Open it? (y: open it in the browser, m: open it myself, {REFUSALS}) ");
    loop {
        let Some(line) = tty.ask(&question).await else {
            return (UserAnswer::Dismissed, None);
        };
        let choice = match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "ㅛ" => UserChoice::OpenPage,
            "m" | "ㅡ" => UserChoice::VisitMyself,
            "n" | "no" | "ㅜ" => UserChoice::Decline,
            "x" | "ㅌ" => UserChoice::DeclineAll,
            "c" | "ㅊ" => UserChoice::CancelRequest,
            _ => continue,
        };
        return (UserAnswer::Choice(choice), None);
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
