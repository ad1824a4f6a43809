//! A question's dialog. What is asked about scrolls; the question and its choices
//! never do.

use super::super::ask::{Form, OpenAsk, Row};
use super::super::model::Model;
use super::pen::{Pen, rows_of};
use crate::domain::tool::{CallOrigin, Tool, ToolCall};
use crate::protocol::Ask;
use crate::text::Clean;
use crate::text::grapheme::width;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Columns of a choice's digit and key, and of the gap behind its label.
const KEYS_WIDTH: usize = 9;
/// Rows of the field for edited arguments.
const FIELD_ROWS: u16 = 8;
/// A dialog is not wider than text that reads well.
const WIDTH_MAX: u16 = 96;

/// What a dialog shows, as rows.
struct Content {
    title: &'static str,
    /// Scrolled: about what it is asked.
    body: Vec<String>,
    question: String,
    rows: Vec<Row>,
    footer: String,
}

/// Rows that the dialog would like, with its frame.
pub fn wanted_rows(model: &Model, columns: u16) -> u16 {
    let Some(ask) = model.ask() else { return 0 };
    let inner = columns.min(WIDTH_MAX).saturating_sub(4).max(1);
    let content = content(model, ask, inner);
    let body = content.body.len() as u16;
    let field = match ask.form {
        Form::Choosing => 0,
        Form::Word(_) => 2,
        Form::Arguments { .. } => FIELD_ROWS,
    };
    let lower = lower_rows(&content, inner).max(field);
    body.saturating_add(lower + 2)
}

/// Choices stand in two columns where every label fits whole.
fn across(rows: &[Row], columns: u16) -> u16 {
    let widest = rows.iter().map(|row| width(&row.label)).max();
    let fits = 2 * (widest.unwrap_or(0) + KEYS_WIDTH) <= usize::from(columns);
    if fits { 2 } else { 1 }
}

fn choice_rows(rows: &[Row], columns: u16) -> u16 {
    (rows.len() as u16).div_ceil(across(rows, columns))
}

fn content(model: &Model, ask: &OpenAsk, columns: u16) -> Content {
    let rows = ask.rows(&model.transcript);
    if let Some(offered) = ask.call() {
        let call = model.transcript.call(offered.call);
        return Content {
            title: "Tool call",
            body: call_rows(&offered.tool, call, columns, model),
            question: "Call now? (Y/N)".to_owned(),
            footer: footer(ask, call, model),
            rows,
        };
    }
    let (title, said, question) = match &ask.question {
        Ask::Approve(_) => ("Tool call", String::new(), String::new()),
        Ask::Repair { raw, why } => (
            "Tool call",
            format!("The model wrote a call that cannot be used: {why}\n\n{raw}"),
            "What now?".to_owned(),
        ),
        Ask::AfterError { failed, wanted } => {
            let name = model
                .transcript
                .call(*failed)
                .map_or("A call", |call| &call.tool);
            let wanted = wanted.join(", ");
            (
                "Tool call",
                format!("{name} failed. The model asks for: {wanted}"),
                "What now?".to_owned(),
            )
        }
        Ask::Stalled { seconds } => (
            "No answer",
            format!("Nothing came from the model for {seconds} s."),
            "Keep waiting?".to_owned(),
        ),
        Ask::Bound { rounds } => (
            "Rounds",
            format!("The model has asked for tools in {rounds} rounds."),
            "Go on?".to_owned(),
        ),
    };
    Content {
        title,
        body: rows_of(&Clean::spelt_out(&said), columns),
        question,
        rows,
        footer: String::new(),
    }
}

fn call_rows(tool: &Tool, call: Option<&ToolCall>, columns: u16, model: &Model) -> Vec<String> {
    let server = call.map_or_else(String::new, |call| call.server.to_string());
    let head = format!("{}   {server}", tool.name);
    let mut rows = rows_of(&Clean::spelt_out(&head), columns);
    if let Some(description) = tool.description.as_deref().filter(|text| !text.is_empty()) {
        rows.extend(rows_of(&Clean::spelt_out(description.trim()), columns));
    }
    let manners = manners(tool, model.glyphs.dot);
    if !manners.is_empty() {
        rows.extend(rows_of(
            &Clean::line(&format!("{manners} (the server says)")),
            columns,
        ));
    }
    rows.push(String::new());
    let arguments = call.map(|call| serde_json::to_string_pretty(&call.arguments));
    let arguments = arguments.and_then(Result::ok).unwrap_or_default();
    let indented = columns.saturating_sub(2).max(1);
    let arguments = rows_of(&Clean::spelt_out(&arguments), indented);
    rows.extend(arguments.into_iter().map(|row| format!("  {row}")));
    rows
}

/// A server's own word about its tool: shown, never obeyed.
fn manners(tool: &Tool, dot: &str) -> String {
    let notes = &tool.annotations;
    let words = [
        (notes.read_only, "read-only", "changes things"),
        (notes.destructive, "destructive", "not destructive"),
        (notes.idempotent, "idempotent", "not idempotent"),
        (notes.open_world, "reaches the outside", "stays inside"),
    ];
    let words: Vec<_> = words
        .into_iter()
        .filter_map(|(note, yes, no)| note.map(|note| if note { yes } else { no }))
        .collect();
    words.join(&format!(" {dot} "))
}

/// What matters comes first: on a narrow screen the end is cut off.
fn footer(ask: &OpenAsk, call: Option<&ToolCall>, model: &Model) -> String {
    let mut parts = Vec::new();
    let count = ask.calls().len();
    if count > 1 {
        parts.push(format!("{} of {count}", ask.at + 1));
    }
    if call.is_some_and(|call| call.repeats.is_some()) {
        parts.push("same call as before".to_owned());
    }
    if let Some(CallOrigin::Text { form, repaired }) = call.map(|call| &call.origin) {
        let how = if *repaired {
            "recovered from text, repaired"
        } else {
            "recovered from text"
        };
        parts.push(format!("{how} ({form})"));
    }
    parts.join(&format!(" {} ", model.glyphs.dot))
}

/// Returns the cursor's place where a field of the dialog is edited.
pub fn draw(model: &mut Model, area: Rect, pen: &mut Pen) -> Option<Position> {
    let mut ask = model.asks.first()?.clone();
    let area = Rect {
        width: area.width.min(WIDTH_MAX),
        ..area
    };
    let columns = area.width.saturating_sub(4).max(1);
    let mut content = content(model, &ask, columns);
    let small = area.width < 24 || area.height < least_rows(&content, columns);
    if small {
        content = self::content(model, &ask, area.width.max(1));
        // There is no row for the footer: it is read with the rest.
        let footer = std::mem::take(&mut content.footer);
        content
            .body
            .extend(rows_of(&Clean::line(&footer), area.width.max(1)));
    }
    let style = if ask.armed {
        pen.theme.accent
    } else {
        pen.theme.dim
    };
    let inner = if small {
        pen.clear(area);
        area
    } else {
        pen.frame(area, content.title, "", style)
    };
    let cursor = match (&mut ask.form, small) {
        (Form::Choosing, _) => None,
        (form, _) => return finish(model, form_field(form, inner, pen), ask),
    };
    let lower = if small {
        2
    } else {
        lower_rows(&content, inner.width)
    };
    let body = Rect {
        height: inner.height.saturating_sub(lower),
        ..inner
    };
    ask.scroll = draw_body(&content.body, ask.scroll, body, pen);
    let rest = Rect {
        y: body.bottom(),
        height: lower.min(inner.height),
        ..inner
    };
    draw_lower(&content, &ask, rest, small, pen);
    finish(model, cursor, ask)
}

fn finish(model: &mut Model, cursor: Option<Position>, ask: OpenAsk) -> Option<Position> {
    if let Some(first) = model.asks.first_mut() {
        *first = ask;
    }
    cursor
}

/// The rows below which the choices become one row: a frame, a line of what it is
/// about, and everything that never scrolls.
fn least_rows(content: &Content, columns: u16) -> u16 {
    3 + lower_rows(content, columns)
}

/// The question between blank rows, the choices, and the footer below a blank row.
fn lower_rows(content: &Content, columns: u16) -> u16 {
    let footer = u16::from(!content.footer.is_empty()) * 2;
    3 + choice_rows(&content.rows, columns) + footer
}

/// Draws the scrolled part and returns the scroll that was possible.
fn draw_body(rows: &[String], scroll: usize, area: Rect, pen: &mut Pen) -> usize {
    let height = usize::from(area.height);
    let scroll = scroll.min(rows.len().saturating_sub(height));
    for (y, row) in rows.iter().skip(scroll).take(height).enumerate() {
        let style = if y + scroll == 0 {
            pen.theme.bold
        } else {
            pen.theme.plain
        };
        pen.put(area.x, area.y + y as u16, row, style, area.width);
    }
    let below = rows.len().saturating_sub(scroll + height);
    if height > 0 && below > 0 {
        let mark = format!(" {} {below} more ", pen.glyphs.down);
        pen.put_right(area.right(), area.bottom() - 1, &mark, pen.theme.attention);
    }
    if height > 1 && scroll > 0 {
        let mark = format!(" {} {scroll} more ", pen.glyphs.up);
        pen.put_right(area.right(), area.y, &mark, pen.theme.attention);
    }
    scroll
}

fn draw_lower(content: &Content, ask: &OpenAsk, area: Rect, small: bool, pen: &mut Pen) {
    let choice_style = if ask.armed {
        pen.theme.plain
    } else {
        pen.theme.dim
    };
    if small {
        return draw_one_row(content, ask, area, choice_style, pen);
    }
    pen.put(
        area.x,
        area.y + 1,
        &content.question,
        pen.theme.bold,
        area.width,
    );
    let first = area.y + 3;
    let per_column = choice_rows(&content.rows, area.width);
    let column_width = area.width / across(&content.rows, area.width);
    for (index, row) in content.rows.iter().enumerate() {
        let column = index as u16 / per_column.max(1);
        let y = first + index as u16 % per_column.max(1);
        let x = area.x + column * column_width;
        if y >= area.bottom() {
            continue;
        }
        let digit = row.digit.unwrap_or(' ');
        let key = row.key.unwrap_or(' ');
        let words = format!("  {digit}  {key}  {}", row.label);
        let columns = column_width.saturating_sub(1);
        pen.put_cut(x, y, &words, choice_style, columns);
        if ask.chosen == Some(index) {
            let line = Rect::new(x, y, (width(&words) as u16 + 1).min(columns), 1);
            let selection = pen.theme.selection;
            pen.style(line, selection);
        }
    }
    if !content.footer.is_empty() && area.height > 0 {
        let footer = Clean::line(&content.footer);
        pen.put_cut(
            area.x,
            area.bottom() - 1,
            footer.as_str(),
            pen.theme.dim,
            area.width,
        );
    }
}

/// The question and the keys, where the screen is very small.
fn draw_one_row(content: &Content, ask: &OpenAsk, area: Rect, style: Style, pen: &mut Pen) {
    let question = Clean::line(&content.question);
    pen.put_cut(
        area.x,
        area.y,
        question.as_str(),
        pen.theme.bold,
        area.width,
    );
    let keys: Vec<_> = content.rows.iter().filter_map(key_of).collect();
    let y = area.y + 1;
    if area.height > 1 {
        pen.put_cut(area.x, y, &keys.join(" "), style, area.width);
        let x = ask.chosen.map(|at| {
            keys.iter()
                .take(at)
                .map(|key| width(key) + 1)
                .sum::<usize>()
        });
        if let (Some(x), Some(at)) = (x, ask.chosen) {
            let wide = keys.get(at).map_or(0, |key| width(key));
            let selection = pen.theme.selection;
            pen.style(
                Rect::new(area.x + x as u16, y, wide as u16, 1).intersection(area),
                selection,
            );
        }
    }
}

fn key_of(row: &Row) -> Option<String> {
    row.key.or(row.digit).map(String::from)
}

/// The field of a denial's word or of edited arguments.
fn form_field(form: &mut Form, area: Rect, pen: &mut Pen) -> Option<Position> {
    let (label, editor, fault) = match form {
        Form::Choosing => return None,
        Form::Word(editor) => ("Deny. A word to the model, if you like:", editor, None),
        Form::Arguments { editor, fault } => ("Edit the arguments:", editor, fault.as_ref()),
    };
    pen.put_cut(area.x, area.y, label, pen.theme.bold, area.width);
    let fault = fault
        .map(|fault| rows_of(&Clean::line(fault), area.width))
        .unwrap_or_default();
    let fault_rows = (fault.len() as u16).min(3).min(area.height / 3);
    let gap = u16::from(area.height > 6);
    let field = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + 1 + gap,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(1 + gap + fault_rows),
    };
    let view = editor.view(field.width, field.height);
    for (y, row) in view.rows.iter().enumerate().take(field.height.into()) {
        pen.put(
            field.x,
            field.y + y as u16,
            row,
            pen.theme.plain,
            field.width,
        );
    }
    for (y, row) in fault.iter().take(fault_rows.into()).enumerate() {
        let y = area.bottom() - fault_rows + y as u16;
        pen.put(area.x, y, row, pen.theme.failure, area.width);
    }
    Some(Position::new(
        field.x + view.cursor.0,
        field.y + view.cursor.1,
    ))
}
