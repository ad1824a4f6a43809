//! `/theme`.

use crate::domain::Notice;
use crate::domain::theme::ThemeChoice;
use crate::text::suggest::nearest;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::widgets::picker::{Picker, PickerRow};

/// Sets a theme by name or by its number in the list; without an argument, opens the list.
pub fn set_theme(argument: &str, cx: &mut UiContext) {
    let themes = cx.shared.themes;
    if let Some(choice) = themes.find(argument) {
        return cx.request(UiRequest::Pick(PickedItem::Theme(choice)));
    }
    let choices = themes.choices();
    if !argument.is_empty() && argument.parse::<usize>().is_err() {
        let names: Vec<&str> = choices.iter().map(ThemeChoice::name).collect();
        let notice = Notice::warning(format!("There is no theme `{argument}`."));
        return cx.notify(
            notice.with_advice(match nearest(argument, names.iter().copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Available: {}.", names.join(", ")),
            }),
        );
    }
    let rows = choices.iter().map(|choice| {
        let item = PickedItem::Theme(choice.clone());
        PickerRow::new(item, choice.name(), theme_note(choice))
    });
    let current = choices.iter().position(|choice| *choice == themes.choice);
    Picker::new("Theme", "Keep the current theme", rows)
        .starting_at(current)
        .pick_or_open(argument, cx);
}

pub fn theme_note(choice: &ThemeChoice) -> &'static str {
    match choice {
        ThemeChoice::Terminal => "the terminal's own colors",
        ThemeChoice::Auto => "dark or light, as the terminal is",
        ThemeChoice::Dark => "for dark backgrounds",
        ThemeChoice::Light => "for light backgrounds",
        ThemeChoice::File(_) => "a file in themes/",
    }
}
