//! The browser of earlier conversations.

use crate::domain::{QueryId, SessionSummary};
use crate::protocol::Command;
use crate::tui::dialog::keys::field_key;
use crate::tui::input::decode::{key_under, normal, typed};
use crate::tui::model::{Model, Overlay, Sessions};
use crate::tui::msg::Effect;
use crate::tui::update::composer;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    model.overlay = Some(Overlay::Sessions(Box::default()));
    refresh(model, effects);
}

/// Asks for the list, where the browser is open.
pub fn refresh(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(Overlay::Sessions(open)) = &mut model.overlay {
        let query = QueryId(model.queries.mint());
        open.query = Some(query);
        effects.push(Effect::Send(Command::ListSessions(query)));
    }
}

pub fn listed(
    model: &mut Model,
    query: QueryId,
    sessions: Arc<Vec<SessionSummary>>,
    effects: &mut Vec<Effect>,
) {
    let Some(Overlay::Sessions(open)) = &mut model.overlay else {
        return;
    };
    if open.query == Some(query) {
        open.all = Some(sessions);
        preview(model, effects);
    }
}

/// Asks for the preview of the chosen session.
fn preview(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Overlay::Sessions(open)) = &mut model.overlay else {
        return;
    };
    let hits = open.hits();
    let chosen = open.chosen.min(hits.len().saturating_sub(1));
    let wanted = hits
        .get(chosen)
        .map(|hit| (hit.id.clone(), hit.broken.is_some()));
    open.chosen = chosen;
    let shown = open.preview.as_ref().and_then(|preview| preview.id.clone());
    match wanted {
        Some((id, false)) if shown.as_ref() != Some(&id) => {
            let query = QueryId(model.queries.mint());
            open.preview = None;
            open.preview_query = Some(query);
            effects.push(Effect::Send(Command::PreviewSession { query, session: id }));
        }
        Some((_, false)) => {}
        _ => {
            open.preview = None;
            open.preview_query = None;
        }
    }
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::Sessions(open)) = &mut model.overlay else {
        return;
    };
    if let Some(id) = open.deleting.take() {
        if typed(key).map(key_under) == Some('y') {
            effects.push(Effect::Send(Command::DeleteSession(id)));
        }
        return;
    }
    let last = open.hits().len().saturating_sub(1);
    match normal(key) {
        (KeyCode::Esc, _) if open.in_list => open.in_list = false,
        (KeyCode::Esc, _) => {
            model.overlay = None;
            return;
        }
        (KeyCode::Tab, _) => open.in_list = !open.in_list,
        (KeyCode::Up, _) => open.chosen = open.chosen.saturating_sub(1),
        (KeyCode::Down, _) => open.chosen = (open.chosen + 1).min(last),
        (KeyCode::PageUp, _) => open.chosen = open.chosen.saturating_sub(10),
        (KeyCode::PageDown, _) => open.chosen = (open.chosen + 10).min(last),
        (KeyCode::Enter, _) => return resume(model, effects),
        (KeyCode::Char(c), KeyModifiers::NONE) if open.in_list => match key_under(c) {
            'd' => return ask_to_delete(open),
            'k' => open.chosen = open.chosen.saturating_sub(1),
            'j' => open.chosen = (open.chosen + 1).min(last),
            _ => {}
        },
        (KeyCode::Delete, _) if open.in_list => return ask_to_delete(open),
        _ if !open.in_list && field_key(&mut open.filter, key) => {
            open.chosen = 0;
        }
        _ => {}
    }
    preview(model, effects);
}

fn ask_to_delete(open: &mut Sessions) {
    open.deleting = open.hits().get(open.chosen).map(|hit| hit.id.clone());
}

fn resume(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Overlay::Sessions(open)) = &mut model.overlay else {
        return;
    };
    let hits = open.hits();
    let Some(hit) = hits.get(open.chosen).filter(|hit| hit.broken.is_none()) else {
        return;
    };
    let id = hit.id.clone();
    model.overlay = None;
    composer::hold_queue(model);
    effects.push(Effect::Send(Command::OpenSession(id)));
}
