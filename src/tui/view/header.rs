//! The header: name, model, tool mode, context, title. On narrow screens it drops parts and
//! never wraps.

use crate::protocol::ContextMeter;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::layout::ScreenLayout;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::numbers::format_thousands;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Width of the context meter's bar.
const BAR_COLUMNS: usize = 6;

pub fn draw(model: &UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = panes.header else { return };
    let name = Clean::single_line(model.engine.model_name());
    let provider = model
        .engine
        .selected
        .as_ref()
        .map(|chosen| chosen.provider.name());
    let persona = model.engine.persona.as_deref().map(Clean::single_line);
    let meter = meter_text(model.engine.context_meter);
    let mode = model.engine.mode.name();
    let title = Clean::single_line(&model.conversation.title);
    let gap = if panes.has_frames { 3 } else { 2 };
    // In the order in which parts are dropped.
    let mut keep = [true; 6];
    let parts = |keep: [bool; 6]| {
        let mut parts = fixed_parts(model);
        if !name.as_str().is_empty() {
            let provider = provider.filter(|_| keep[1]);
            let provider =
                provider.map_or_else(String::new, |p| format!(" {} {p}", separator(model)));
            let think = if keep[1] {
                think_label(model)
            } else {
                String::new()
            };
            parts.push((
                format!("{}{provider}{think}", name.as_str()),
                HeaderPartStyle::Plain,
            ));
        }
        if let Some(persona) = persona.as_ref().filter(|_| keep[5]) {
            parts.push((format!("as {}", persona.as_str()), HeaderPartStyle::Plain));
        }
        if keep[3] {
            parts.push((mode.to_owned(), HeaderPartStyle::Mode));
        }
        if let Some((used, text)) = meter.as_ref().filter(|_| keep[4]) {
            let bar = used
                .filter(|_| keep[2])
                .map_or_else(String::new, |used| bar(model, used));
            parts.push((format!("{bar}{text}"), HeaderPartStyle::Dim));
        }
        parts
    };
    let columns = |parts: &[(String, HeaderPartStyle)]| {
        parts
            .iter()
            .map(|(part, _)| width(part) + gap)
            .sum::<usize>()
            + 2
    };
    let (area, alive) = draw_activity(model, panes, area, pen);
    let room = usize::from(area.width) + if alive { gap } else { 0 };
    let title_columns = width(title.as_str()).min(16);
    for part in 0..keep.len() {
        let title = if keep[0] { title_columns } else { 0 };
        if columns(&parts(keep)) + title <= room {
            break;
        }
        keep[part] = false;
    }
    let x = put_parts(model, area, &parts(keep), gap, pen);
    if keep[0] && !alive && !title.as_str().is_empty() && x + 4 < area.right() {
        let left = (area.right() - x - 1).min(40);
        let columns = (width(title.as_str()) as u16).min(left);
        let start = area.right() - 1 - columns;
        pen.put_truncated(start, area.y, title.as_str(), pen.theme.dim, columns);
    }
}

/// Draws the parts from the left and returns the column after the last.
fn put_parts(
    model: &UiModel,
    area: Rect,
    parts: &[(String, HeaderPartStyle)],
    gap: usize,
    pen: &mut Painter,
) -> u16 {
    let mut x = area.x + 1.min(area.width);
    for (text, role) in parts {
        let style = match role {
            HeaderPartStyle::Name => pen.theme.bold,
            HeaderPartStyle::Plain => pen.theme.plain,
            HeaderPartStyle::Private => pen.theme.attention,
            HeaderPartStyle::Mode if model.engine.mode == crate::domain::ToolMode::Auto => {
                pen.theme.attention
            }
            HeaderPartStyle::Mode | HeaderPartStyle::Dim => pen.theme.dim,
        };
        let left = area.right().saturating_sub(x);
        x += pen.put_truncated(x, area.y, text, style, left) + gap as u16;
    }
    x
}

/// The `think` setting as text.
fn think_label(model: &UiModel) -> String {
    model.engine.think.map_or_else(String::new, |think| {
        let word = crate::tui::models::select::think_word(think);
        format!(" {} think {word}", separator(model))
    })
}

/// Without frames, activity is shown at the right end of the header. Returns the rest of
/// the header, and whether activity was drawn.
fn draw_activity(
    model: &UiModel,
    panes: &ScreenLayout,
    area: Rect,
    pen: &mut Painter,
) -> (Rect, bool) {
    let life = crate::tui::view::elapsed::activity_text(model).filter(|_| !panes.has_frames);
    let Some((time, silent)) = life else {
        return (area, false);
    };
    let fits = 3 * width(&silent) <= 2 * usize::from(area.width).saturating_sub(width(&time));
    let words = if fits { time + &silent } else { time };
    let dim = pen.theme.dim;
    pen.put_right(area.right().saturating_sub(1), area.y, &words, dim);
    let taken = width(&words) as u16 + 2;
    let rest = Rect {
        width: area.width.saturating_sub(taken),
        ..area
    };
    (rest, true)
}

/// The parts that are never dropped: users who rely on privacy must always see it.
fn fixed_parts(model: &UiModel) -> Vec<(String, HeaderPartStyle)> {
    let mut names = vec![("humble".to_owned(), HeaderPartStyle::Name)];
    if model.conversation.is_private {
        names.push(("private".to_owned(), HeaderPartStyle::Private));
    }
    names
}

enum HeaderPartStyle {
    Name,
    Plain,
    Mode,
    Private,
    Dim,
}

fn separator(model: &UiModel) -> &'static str {
    model.screen.glyphs.dot
}

/// The used fraction, if the limit is known, and its text.
fn meter_text(meter: ContextMeter) -> Option<(Option<f64>, String)> {
    let about = if meter.is_measured { "" } else { "~" };
    match meter.limit {
        Some(limit) if limit > 0 => {
            let share = meter.used as f64 / limit as f64;
            Some((Some(share), format!("{about}{:.0} %", share * 100.0)))
        }
        _ if meter.used > 0 => Some((None, format!("ctx {about}{}", format_thousands(meter.used)))),
        _ => None,
    }
}

fn bar(model: &UiModel, share: f64) -> String {
    let full = ((share * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    let [left, right] = model.screen.glyphs.bar_ends;
    let filled = model.screen.glyphs.bar_full.repeat(full);
    format!(
        "ctx {left}{filled}{}{right} ",
        " ".repeat(BAR_COLUMNS - full)
    )
}
