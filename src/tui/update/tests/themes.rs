//! `/theme`: preview, choice, and following the terminal's background.

use crate::domain::theme::{ThemeChoice, ThemeSettings};
use crate::tui::theme::{TerminalBackground, Theme};
use crate::tui::update::tests::*;

impl ChatHarness {
    fn set_theme(&mut self, choice: ThemeChoice) -> &mut Self {
        let themes = ThemeSettings {
            choice,
            files: Vec::new(),
        };
        self.engine_event(Event::ThemesChanged(Arc::new(themes)))
    }

    fn theme(&self) -> Theme {
        self.model.screen.theme
    }
}

#[test]
fn list_previews_each_theme_and_escape_restores_the_old_one() {
    let mut chat = chat();
    let before = chat.theme();
    chat.keys("/theme<Enter>");
    assert_eq!(chat.theme(), before);
    chat.keys("<Down><Down>");
    let dark = chat.theme();
    assert_ne!(dark, before);
    chat.keys("<Down>");
    assert_ne!(chat.theme(), dark);
    chat.keys("<Esc>");
    assert_eq!(chat.theme(), before);
    assert_eq!(chat.commands(), []);
}

#[test]
fn enter_takes_the_theme_and_stores_it() {
    let mut chat = chat();
    chat.keys("/theme<Enter><Down><Down><Enter>");
    let dark = chat.theme();
    assert_eq!(chat.commands(), [Command::SetTheme(ThemeChoice::Dark)]);
    chat.keys("/theme light<Enter>");
    assert_ne!(chat.theme(), dark);
    assert_eq!(chat.commands(), [Command::SetTheme(ThemeChoice::Light)]);
    chat.keys("/theme drak<Enter>");
    assert!(
        chat.notice().contains("Did you mean `dark`?"),
        "{}",
        chat.notice()
    );
    assert_eq!(chat.commands(), []);
}

#[test]
fn auto_asks_for_the_background_when_the_window_gets_the_focus() {
    let mut chat = chat();
    let queries = |chat: &ChatHarness| {
        let queries = chat.sent.iter();
        queries
            .filter(|effect| **effect == UiEffect::QueryBackground)
            .count()
    };
    chat.input(UiInput::Focus(true));
    assert_eq!(queries(&chat), 0);
    chat.set_theme(ThemeChoice::Auto);
    let dark = chat.theme();
    assert_eq!(queries(&chat), 1);
    chat.wait(60_000)
        .input(UiInput::Focus(false))
        .input(UiInput::Focus(true));
    assert_eq!(queries(&chat), 2);
    chat.input(UiInput::Background(TerminalBackground::Light));
    assert_ne!(chat.theme(), dark);
}
