//! Applies themes: the user's choice, the preview of the list, and the terminal's background.

use crate::domain::theme::{ThemeChoice, ThemeSettings};
use crate::protocol::Command;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use std::sync::Arc;

/// Shows a theme at once and stores it.
pub fn choose(model: &mut UiModel, choice: ThemeChoice, effects: &mut Vec<UiEffect>) {
    model.screen.choose_theme(choice.clone());
    follow_background(model, effects);
    effects.push(UiEffect::Send(Command::SetTheme(choice)));
}

/// Takes over the themes that the engine reports.
pub fn themes_changed(
    model: &mut UiModel,
    themes: Arc<ThemeSettings>,
    effects: &mut Vec<UiEffect>,
) {
    let was_following = model.screen.follows_background();
    model.screen.set_themes(themes);
    if !was_following {
        follow_background(model, effects);
    }
}

/// Shows the theme that the open list selects, and the chosen one once it closes.
pub fn preview(model: &mut UiModel) {
    let layer = model.layer.as_ref();
    let previewed = layer.and_then(|layer| layer.previewed_theme(model.shared()).cloned());
    model.screen.preview_theme(previewed);
}

/// Asks the terminal for its background if the theme follows it.
pub fn follow_background(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.screen.follows_background() {
        effects.push(UiEffect::QueryBackground);
    }
}
