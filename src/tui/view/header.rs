//! The header: program name, model, persona, tool mode, context meter, tools and title.
//! On narrow screens it drops parts instead of wrapping, but never `private` and `auto`.

use crate::domain::ToolMode;
use crate::domain::starting_servers::starting_servers;
use crate::protocol::ContextMeter;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::numbers::format_thousands;
use crate::tui::layout::ScreenLayout;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Maximum width of the name of a failed server.
const SERVER_COLUMNS_MAX: usize = 16;
const TITLE_COLUMNS_MAX: u16 = 40;
/// Other parts are dropped to leave this much space for the title.
const TITLE_COLUMNS_MIN: usize = 12;
const BAR_COLUMNS: usize = 6;

// The parts that a narrow header drops, numbered in the order in which they are dropped.
const PROVIDER_AND_THINK: usize = 0;
const METER_BAR: usize = 1;
const TITLE: usize = 2;
const TOOLS: usize = 3;
const MODE: usize = 4;
const METER: usize = 5;
const PERSONA: usize = 6;
const DROPPABLE_PARTS: usize = 7;

pub fn draw(model: &UiModel, layout: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = layout.header else { return };
    let persona = model.engine.persona.as_deref().map(Clean::single_line);
    let meter = meter_text(model.engine.context_meter);
    let mode = model.engine.mode.name();
    let title = Clean::single_line(&model.conversation.title);
    let tools = tools_text(model).filter(|_| layout.sidebar.is_none());
    let gap = 2;
    let mut keep = [true; DROPPABLE_PARTS];
    let parts = |keep: [bool; DROPPABLE_PARTS]| {
        let mut parts = fixed_parts(model);
        // Before the model's name, which may fill the rest of the row.
        if !keep[MODE] && model.engine.mode == ToolMode::Auto {
            parts.push((mode.to_owned(), HeaderPartStyle::Mode));
        }
        parts.extend(model_part(model, keep[PROVIDER_AND_THINK]));
        if let Some(persona) = persona.as_ref().filter(|_| keep[PERSONA]) {
            parts.push((format!("as {}", persona.as_str()), HeaderPartStyle::Plain));
        }
        if keep[MODE] {
            parts.push((mode.to_owned(), HeaderPartStyle::Mode));
        }
        if let Some((used, text)) = meter.as_ref().filter(|_| keep[METER]) {
            let bar = used
                .filter(|_| keep[METER_BAR])
                .map_or_else(String::new, |used| bar(model, used));
            parts.push((format!("{bar}{text}"), HeaderPartStyle::Dim));
        }
        if let Some((text, style)) = tools.as_ref().filter(|_| keep[TOOLS]) {
            parts.push((text.clone(), *style));
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
    let (area, has_activity) = draw_activity(model, layout, area, pen);
    let columns_max = usize::from(area.width) + if has_activity { gap } else { 0 };
    let title_columns = width(title.as_str()).min(TITLE_COLUMNS_MIN);
    for part in 0..keep.len() {
        let title = if keep[TITLE] { title_columns } else { 0 };
        if columns(&parts(keep)) + title <= columns_max {
            break;
        }
        keep[part] = false;
    }
    let x = put_parts(model, area, &parts(keep), gap, pen);
    if keep[TITLE] && !has_activity {
        put_title(&title, x, area, pen);
    }
}

/// The model, with its provider and the `think` setting if there is room.
fn model_part(model: &UiModel, is_complete: bool) -> Option<(String, HeaderPartStyle)> {
    let name = Clean::single_line(model.engine.model_name());
    if name.as_str().is_empty() {
        return None;
    }
    let selected = model.engine.selected.as_ref().filter(|_| is_complete);
    let provider = selected.map_or_else(String::new, |selected| {
        format!(" {} {}", separator(model), selected.provider.name())
    });
    let think = match is_complete {
        true => think_label(model),
        false => String::new(),
    };
    let text = format!("{}{provider}{think}", name.as_str());
    Some((text, HeaderPartStyle::Plain))
}

fn put_title(title: &Clean, x: u16, area: Rect, pen: &mut Painter) {
    if title.as_str().is_empty() || x + 4 >= area.right() {
        return;
    }
    let columns_max = (area.right() - x - 1).min(TITLE_COLUMNS_MAX);
    let columns = (width(title.as_str()) as u16).min(columns_max);
    let start = area.right() - 1 - columns;
    pen.put_truncated(start, area.y, title.as_str(), pen.theme.dim, columns);
}

/// Returns the column at which the next part would start.
fn put_parts(
    model: &UiModel,
    area: Rect,
    parts: &[(String, HeaderPartStyle)],
    gap: usize,
    pen: &mut Painter,
) -> u16 {
    let mut x = area.x + 1.min(area.width);
    for (text, style) in parts {
        let style = match style {
            HeaderPartStyle::Name => pen.theme.bold,
            HeaderPartStyle::Plain => pen.theme.plain,
            HeaderPartStyle::Private => pen.theme.attention,
            HeaderPartStyle::Failure => pen.theme.failure,
            HeaderPartStyle::Mode if model.engine.mode == ToolMode::Auto => pen.theme.attention,
            HeaderPartStyle::Mode | HeaderPartStyle::Dim => pen.theme.dim,
        };
        let columns = area.right().saturating_sub(x);
        x += pen.put_truncated(x, area.y, text, style, columns) + gap as u16;
    }
    x
}

/// `tools 15 · 1 starting · ✗ docs`: the number of available tools, how many servers have not
/// answered yet, and the first failed server. Shown only without a sidebar.
fn tools_text(model: &UiModel) -> Option<(String, HeaderPartStyle)> {
    let pane = &model.servers_pane;
    if pane.servers.is_empty() {
        return None;
    }
    let count: usize = (0..pane.servers.len())
        .map(|index| pane.cost(index).tools)
        .sum();
    let dot = separator(model);
    let starting = match starting_servers(&pane.servers).count() {
        0 => String::new(),
        count => format!(" {dot} {count} starting"),
    };
    let mut failed_servers = pane.servers.iter().filter(|server| server.has_failed());
    let Some(first) = failed_servers.next() else {
        return Some((format!("tools {count}{starting}"), HeaderPartStyle::Dim));
    };
    let name = Clean::name(first.id.as_str());
    let name = truncate_to_width(name.as_str(), SERVER_COLUMNS_MAX);
    let others = match failed_servers.count() {
        0 => String::new(),
        count => format!(" +{count}"),
    };
    let mark = model.screen.glyphs.failed;
    let text = format!("tools {count}{starting} {dot} {mark} {name}{others}");
    Some((text, HeaderPartStyle::Failure))
}

fn think_label(model: &UiModel) -> String {
    model.engine.think.map_or_else(String::new, |think| {
        format!(" {} think {}", separator(model), think.word())
    })
}

/// Without the rule above the message, draws the elapsed time of the current activity at the right
/// end of the header. Returns the remaining area, and whether there was an activity.
fn draw_activity(
    model: &UiModel,
    layout: &ScreenLayout,
    area: Rect,
    pen: &mut Painter,
) -> (Rect, bool) {
    let activity =
        crate::tui::view::elapsed::activity_text(model).filter(|_| layout.rule.is_none());
    let Some((time, suffix)) = activity else {
        return (area, false);
    };
    // Show the suffix if it takes at most two thirds of the columns beside the time.
    let fits = 3 * width(&suffix) <= 2 * usize::from(area.width).saturating_sub(width(&time));
    let text = if fits { time + &suffix } else { time };
    let dim = pen.theme.dim;
    pen.put_right(area.right().saturating_sub(1), area.y, &text, dim);
    let used = width(&text) as u16 + 2;
    let rest = Rect {
        width: area.width.saturating_sub(used),
        ..area
    };
    (rest, true)
}

/// The parts that are never dropped. One of them is `private`: a user who relies on private mode
/// must always see it.
fn fixed_parts(model: &UiModel) -> Vec<(String, HeaderPartStyle)> {
    let mut parts = vec![("humble".to_owned(), HeaderPartStyle::Name)];
    if model.conversation.is_private {
        parts.push(("private".to_owned(), HeaderPartStyle::Private));
    }
    parts
}

#[derive(Clone, Copy)]
enum HeaderPartStyle {
    Name,
    Plain,
    Mode,
    Private,
    Failure,
    Dim,
}

fn separator(model: &UiModel) -> &'static str {
    model.screen.glyphs.dot
}

/// The used fraction of the context (`None` if the limit is unknown) and the text of the meter.
fn meter_text(meter: ContextMeter) -> Option<(Option<f64>, String)> {
    let prefix = if meter.is_measured { "" } else { "~" };
    match meter.limit {
        Some(limit) if limit > 0 => {
            let fraction = meter.used as f64 / limit as f64;
            Some((Some(fraction), format!("{prefix}{:.0} %", fraction * 100.0)))
        }
        _ if meter.used > 0 => Some((
            None,
            format!("ctx {prefix}{}", format_thousands(meter.used)),
        )),
        _ => None,
    }
}

fn bar(model: &UiModel, fraction: f64) -> String {
    let filled_columns = ((fraction * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    let [left, right] = model.screen.glyphs.bar_ends;
    let filled = model.screen.glyphs.bar_full.repeat(filled_columns);
    format!(
        "ctx {left}{filled}{}{right} ",
        " ".repeat(BAR_COLUMNS - filled_columns)
    )
}
