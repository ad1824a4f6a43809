//! The dialog about external edits to the settings, personas, and the commands for settings.

use crate::domain::{PersonaSummary, SettingsChange};
use crate::questions;
use crate::tui::update::tests::*;

fn external_edit() -> Question {
    let line = |text: &str| Some(text.to_owned());
    let (old, new) = (line("npx"), line("sh\n+ \u{202e}fake\n\u{1b}[2J"));
    questions::external_edit(&[
        SettingsChange::needs_consent("mcp-servers.json", "server `fs\nx`, `command`", old, new),
        SettingsChange::harmless("config.json", "logLevel is now debug"),
    ])
}

fn with_personas() -> ChatHarness {
    let persona = |name: &str, is_usable| PersonaSummary {
        name: name.into(),
        description: "Says \u{1b}[2Jthings".into(),
        is_usable,
    };
    let personas = Arc::new(vec![persona("off-duty", true), persona("weather", true)]);
    let mut chat = chat();
    chat.engine_event(Event::PersonasListed {
        personas,
        selected: Some("weather".into()),
    });
    chat
}

#[test]
fn external_edit_shows_old_and_new_values_unambiguously() {
    let mut chat = chat();
    let screen = chat.size(80, 40).ask_question(external_edit()).screen();
    for text in [
        "Settings changed",
        "server `fs⟨LF⟩x`, `command`",
        "    - npx",
        "    + sh",
        "    + + ⟨U+202E⟩fake",
        "    + ⟨ESC⟩[2J",
        "Already applied:",
        "config.json: logLevel is now debug",
        "Apply the changes?",
        " y apply  n do not use them now  ?",
    ] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
}

#[test]
fn keys_pressed_too_early_do_not_answer_and_ctrl_c_changes_nothing() {
    let take_answer = |chat: &mut ChatHarness| {
        let mut commands = chat.commands().into_iter();
        commands.find_map(|command| match command {
            Command::Answer { answer, .. } => Some(answer),
            _ => None,
        })
    };
    let mut typing = chat();
    typing
        .size(80, 40)
        .keys("o")
        .ask_question(external_edit())
        .keys("ff1");
    assert_eq!(
        (take_answer(&mut typing), typing.message()),
        (None, "off1".to_owned())
    );
    typing.wait(600).keys("f").wait(400);
    let expected = UserAnswer::Choice(UserChoice::ApplyChanges);
    assert_eq!(take_answer(&mut typing), Some(expected));
    for key in ["<Esc>", "<Ctrl+c>"] {
        let mut chat = chat();
        chat.ask_question(external_edit()).wait(600).keys(key);
        assert_eq!(take_answer(&mut chat), Some(UserAnswer::Dismissed), "{key}");
        assert!(!chat.sent.contains(&UiEffect::Quit) && chat.model.dialogs.queued().is_empty());
    }
    // The key of `n` on a two-set Hangul keyboard.
    let mut hangul = chat();
    hangul.ask_question(external_edit()).wait(600).keys("ㅜ");
    assert_eq!(
        take_answer(&mut hangul),
        Some(UserAnswer::Choice(UserChoice::Stop))
    );
}

#[test]
fn changes_are_accepted_only_after_reading_to_the_end() {
    let mut chat = chat();
    chat.size(60, 20)
        .ask_question(external_edit())
        .wait(600)
        .screen();
    let screen = chat.keys("f").screen();
    assert!(chat.commands().is_empty(), "{screen}");
    assert!(screen.contains("Read the rest first (PgDn)."), "{screen}");
    for _ in 0..8 {
        chat.input(UiInput::Key(key(KeyCode::PageDown, KeyModifiers::NONE)));
        chat.screen();
    }
    chat.keys("f");
    assert!(
        chat.commands().is_empty(),
        "the end has only just been drawn"
    );
    chat.wait(600).keys("f");
    let expected = UserAnswer::Choice(UserChoice::ApplyChanges);
    let answer = chat.commands().pop();
    assert!(matches!(answer, Some(Command::Answer { answer, .. }) if answer == expected));
}

#[test]
fn persona_is_chosen_by_list_number_or_name_and_shown_in_the_header() {
    let take_selection = |chat: &mut ChatHarness| match chat.commands().pop() {
        Some(Command::SelectPersona(persona)) => Some(persona),
        _ => None,
    };
    let mut chat = with_personas();
    assert!(chat.screen().contains("as weather"));
    let screen = chat.keys("/persona<Enter>").screen();
    for text in [
        "1  none      system_prompt.txt",
        "2  off-duty  Says things",
        "▌ 3  weather",
    ] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
    chat.wait(600).keys("2");
    assert_eq!(take_selection(&mut chat), Some(Some("off-duty".into())));
    for (typed, expected) in [
        ("/persona weather<Enter>", Some("weather")),
        ("/persona off<Enter>", None),
        ("/persona 1<Enter>", None),
        ("/persona 날씨<Enter>", Some("날씨")),
    ] {
        chat.wait(600).keys(typed).wait(600);
        assert_eq!(
            take_selection(&mut chat),
            Some(expected.map(str::to_owned)),
            "{typed}"
        );
    }
}

#[test]
fn reload_and_system_prompt_commands_are_sent() {
    let mut chat = chat();
    chat.keys("/reload<Enter>").wait(600);
    assert_eq!(chat.commands(), [Command::Reload]);
    chat.keys("/system-prompt replace<Enter>").wait(600);
    assert_eq!(chat.commands(), [Command::ReplaceSystemPrompt]);
    chat.keys("/system-prompt destroy<Enter>").wait(600);
    assert_eq!(chat.commands(), []);
    assert_eq!(chat.notice(), "Usage: /system-prompt [replace]");
    let text = "a\nuse chooseFunction\u{7}";
    let path = "/h/system_prompt.txt";
    let screen = chat
        .size(80, 40)
        .ask_question(questions::replace_prompt(path, text))
        .screen();
    for text in [
        "    - a",
        "    - use chooseFunction⟨BEL⟩",
        "system_prompt.txt.bak",
        "Replace it?",
    ] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
}
