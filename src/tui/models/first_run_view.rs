//! Draws the empty chat: a greeting, or on a first run the choice of a model.

use crate::domain::model::CONFIG_EXAMPLE;
use crate::domain::model_catalog::format_size;
use crate::domain::{Banner, CatalogState, ModelCatalog, ToolMode};
use crate::front_end::engine_state::EngineState;
use crate::text::Clean;
use crate::tui::models::first_run::FirstRun;
use crate::tui::models::rows::{
    ADD_SERVER_LABEL, DEMO_LABEL, FirstRunItem, IMPORT_LABEL, first_run_items,
};
use crate::tui::theme::Glyphs;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::Rect;

const WELCOME: &str = "Welcome. humble talks to a model and lets it use tools, asking you first.";
/// Minimum width to show a model's size and capabilities.
const DETAILS_COLUMNS_MIN: u16 = 44;

/// Draws the first-run choice while it is open, otherwise a greeting. `config_file` is given while a
/// prompt waits for a model, to explain how to add one by hand.
pub fn draw(
    engine: &EngineState,
    choice: Option<&FirstRun>,
    config_file: Option<&str>,
    area: Rect,
    pen: &mut Painter,
) {
    let Some(choice) = choice else {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::from_static(greeting(engine)), dim);
        return;
    };
    let items = first_run_items(&engine.catalog);
    let found = search_result_text(&engine.catalog);
    let found = wrapped_rows(&Clean::single_line(&found), area.width);
    let welcome = match config_file {
        None => wrapped_rows(&Clean::from_static(WELCOME), area.width),
        Some(file) => {
            let text = format!(
                "Your message waits for a model. {file} lists none yet. Choose one, or put this into the file, for example:"
            );
            let mut rows = wrapped_rows(&Clean::single_line(&text), area.width);
            rows.extend(wrapped_rows(
                &Clean::from_static(CONFIG_EXAMPLE),
                area.width,
            ));
            rows
        }
    };
    let mut rest = area;
    let mut put = |rows: &[String], rest: &mut Rect| {
        for row in rows {
            pen.put(rest.x, rest.y, row, pen.theme.plain, rest.width);
            rest.y += 1;
            rest.height -= 1;
        }
    };
    // The items have priority; the greeting uses the remaining rows.
    let rows_min = items.len() as u16 + 1;
    let room = |rest: &Rect, rows: usize| rest.height >= rows_min + rows as u16;
    if room(&rest, found.len() + welcome.len() + 1) {
        put(&welcome, &mut rest);
        rest.y += 1;
        rest.height -= 1;
    }
    if rest.height as usize > found.len() + 1 || rest.height >= 4 {
        let rows = found.len().min(usize::from(rest.height.saturating_sub(2)));
        put(&found[..rows], &mut rest);
    }
    draw_items(choice, &items, rest, pen);
}

fn greeting(engine: &EngineState) -> &'static str {
    let is_broken = |banner: &Banner| banner.cause.affects_whole_file("config.json");
    if engine.selected.is_some() || !engine.models.is_empty() {
        match engine.mode {
            ToolMode::Manual => "Type a message below. Tools ask before they run.",
            ToolMode::Auto => "Type a message below. Tools run without asking (auto).",
        }
    } else if engine.banners.iter().any(is_broken) {
        "config.json could not be read. Starting without it."
    } else if engine.catalog.offers_discovered {
        "No model is chosen yet. /models brings the choice back."
    } else {
        WELCOME
    }
}

fn draw_items(choice: &FirstRun, items: &[FirstRunItem<'_>], area: Rect, pen: &mut Painter) {
    let height = usize::from(area.height);
    let selected = choice.selected();
    let first = (selected + 1).saturating_sub(height);
    let has_gap = height > items.len();
    let mut y = area.y;
    for (index, item) in items.iter().enumerate().skip(first) {
        if *item == FirstRunItem::AnotherServer && has_gap && index > 0 {
            y += 1;
        }
        if y >= area.bottom() {
            break;
        }
        let (mark, style) = match selected == index {
            true => (pen.glyphs.cursor, pen.theme.accent),
            false => (" ", pen.theme.plain),
        };
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        let mut end = line.right();
        if let FirstRunItem::Model(_, listed) = item
            && area.width >= DETAILS_COLUMNS_MIN
        {
            let capabilities: Vec<&str> = listed.extra_capabilities().collect();
            let capabilities = Clean::single_line(&capabilities.join(", "));
            // A fixed name column, wide enough for most names, keeps the rest aligned.
            let name = (area.width / 2).min(36);
            let size = listed.bytes.map(format_size).unwrap_or_default();
            pen.put_right(line.x + name + 9, y, &size, pen.theme.dim);
            let x = line.x + name + 12;
            let columns = line.right().saturating_sub(x);
            pen.put_truncated(x, y, capabilities.as_str(), pen.theme.dim, columns);
            end = line.x + name;
        }
        pen.put(line.x, y, mark, style, line.width);
        let dim = pen.theme.dim;
        pen.put(line.x + 2, y, &(index + 1).to_string(), dim, 1);
        let x = line.x + 5;
        let columns = end.saturating_sub(x);
        let label = Clean::single_line(&label(item, pen.glyphs));
        pen.put_words(x, y, label.as_str(), style, columns);
        y += 1;
    }
    let hidden = items.len().saturating_sub(first + height);
    if hidden > 0 && area.height > 0 {
        let mark = format!(" {} {hidden}", pen.glyphs.down);
        let style = pen.theme.accent;
        pen.put_right(area.right(), area.bottom() - 1, &mark, style);
    }
}

fn label(item: &FirstRunItem<'_>, glyphs: Glyphs) -> String {
    let label = match item {
        FirstRunItem::Model(_, listed) => return listed.name.clone(),
        FirstRunItem::Pull => "Pull a model from the Ollama library …",
        FirstRunItem::AnotherServer => ADD_SERVER_LABEL,
        FirstRunItem::ImportServers => IMPORT_LABEL,
        FirstRunItem::Demo => DEMO_LABEL,
    };
    glyphs.label(label.to_owned())
}

/// The result of the search for an Ollama server.
fn search_result_text(catalog: &ModelCatalog) -> String {
    let found = first_server_text(catalog);
    if catalog.is_ollama_host_invalid {
        return format!("OLLAMA_HOST is set, but is not a valid address. {found}");
    }
    found
}

fn first_server_text(catalog: &ModelCatalog) -> String {
    let Some(server) = catalog.servers.first() else {
        return String::new();
    };
    let url = &server.server.url;
    match &server.state {
        CatalogState::Loading => format!("Looking for Ollama at {url} …"),
        CatalogState::Failed(_) => format!(
            "Ollama does not answer at {url}. Run `ollama serve`; /models looks again. Or choose:"
        ),
        CatalogState::Listed(listed) if listed.models.is_empty() => {
            "Ollama is running, but has no models yet:".to_owned()
        }
        CatalogState::Listed(listed) => {
            let chats = listed
                .models
                .iter()
                .filter(|model| model.can_chat())
                .count();
            let items = first_run_items(catalog);
            let is_model = |item: &&FirstRunItem| matches!(item, FirstRunItem::Model(..));
            let offered = items.iter().filter(is_model).count();
            if chats == 0 {
                "Ollama is running, but has no model that can chat:".to_owned()
            } else if offered < chats {
                format!("Ollama is running. {offered} of {chats} models; /models lists all:")
            } else {
                "Ollama is running:".to_owned()
            }
        }
    }
}
