//! Settings in the user interface: the dialog about external edits, personas, and the
//! commands.

use crate::domain::{Change, PersonaSummary};
use crate::tui::update::tests::*;

fn edit() -> Ask {
    let line = |text: &str| Some(text.to_owned());
    let (old, new) = (line("npx"), line("sh\n+ \u{202e}fake\n\u{1b}[2J"));
    Ask::OutsideEdit(Arc::new(vec![
        Change::needs_consent("mcp-servers.json", "server `fs\nx`, `command`", old, new),
        Change::harmless("config.json", "logLevel is debug now"),
    ]))
}

fn with_personas() -> Chat {
    let persona = |name: &str, usable| PersonaSummary {
        name: name.into(),
        about: "Says \u{1b}[2Jthings".into(),
        usable,
    };
    let personas = Arc::new(vec![persona("off-duty", true), persona("weather", true)]);
    let mut chat = chat();
    chat.engine(Event::PersonasListed {
        personas,
        selected: Some("weather".into()),
    });
    chat
}

#[test]
fn an_edit_shows_old_and_new_and_no_line_of_it_passes_for_another() {
    let mut chat = chat();
    let drawn = chat.size(80, 40).asked(edit()).screen();
    for text in [
        "Settings changed",
        "server `fs⟨LF⟩x`, `command`",
        "    - npx",
        "    + sh",
        "    + + ⟨U+202E⟩fake",
        "    + ⟨ESC⟩[2J",
        "Already applied:",
        "config.json: logLevel is debug now",
        "Apply the changes?",
        "f  Apply the changes",
        "n  Ignore them until I quit (files are not touched)",
    ] {
        assert!(drawn.contains(text), "{text} in\n{drawn}");
    }
}

#[test]
fn keys_meant_for_the_message_do_not_answer_and_ctrl_c_leaves_everything_as_it_is() {
    let answered = |chat: &mut Chat| match chat.commands().pop() {
        Some(Command::Answer { answer, .. }) => Some(answer),
        _ => None,
    };
    let mut typing = chat();
    typing.size(80, 40).keys("o").asked(edit()).keys("ff1");
    assert_eq!(
        (answered(&mut typing), typing.message()),
        (None, "off1".to_owned())
    );
    typing.wait(600).keys("f");
    let taken = Answer::Choice(Choice::TakeChanges);
    assert_eq!(answered(&mut typing), Some(taken));
    for key in ["<Esc>", "<Ctrl+c>"] {
        let mut chat = chat();
        chat.asked(edit()).wait(600).keys(key);
        assert_eq!(answered(&mut chat), Some(Answer::Dismissed), "{key}");
        assert!(!chat.sent.contains(&Effect::Quit) && chat.model.dialogs.asks().is_empty());
    }
    // Two-set Hangul: the key of `n`.
    let mut hangul = chat();
    hangul.asked(edit()).wait(600).keys("ㅜ");
    assert_eq!(answered(&mut hangul), Some(Answer::Choice(Choice::Stop)));
}

#[test]
fn changes_are_taken_only_once_their_end_was_in_view() {
    let mut chat = chat();
    chat.size(60, 20).asked(edit()).wait(600).screen();
    let drawn = chat.keys("f").screen();
    assert!(chat.commands().is_empty(), "{drawn}");
    assert!(drawn.contains("Scroll to the end first (PgDn)."), "{drawn}");
    for _ in 0..8 {
        chat.input(Input::Key(key(KeyCode::PageDown, KeyModifiers::NONE)));
        chat.screen();
    }
    chat.keys("f");
    let taken = Answer::Choice(Choice::TakeChanges);
    let answer = chat.commands().pop();
    assert!(matches!(answer, Some(Command::Answer { answer, .. }) if answer == taken));
}

#[test]
fn a_persona_is_picked_by_list_number_or_name_and_named_in_the_header() {
    let chosen = |chat: &mut Chat| match chat.commands().pop() {
        Some(Command::SelectPersona(chosen)) => Some(chosen),
        _ => None,
    };
    let mut chat = with_personas();
    assert!(chat.screen().contains("as weather"));
    let drawn = chat.keys("/persona<Enter>").screen();
    for text in [
        "1  none  system_prompt.txt",
        "2  off-duty  Says things",
        "▌ 3  weather",
    ] {
        assert!(drawn.contains(text), "{text} in\n{drawn}");
    }
    chat.wait(600).keys("2");
    assert_eq!(chosen(&mut chat), Some(Some("off-duty".into())));
    for (typed, expected) in [
        ("/persona weather<Enter>", Some("weather")),
        ("/persona off<Enter>", None),
        ("/persona 1<Enter>", None),
        ("/persona 날씨<Enter>", Some("날씨")),
    ] {
        chat.wait(600).keys(typed).wait(600);
        assert_eq!(
            chosen(&mut chat),
            Some(expected.map(str::to_owned)),
            "{typed}"
        );
    }
}

#[test]
fn the_settings_are_read_again_and_an_older_prompt_is_offered_on_command() {
    let mut chat = chat();
    chat.keys("/reload<Enter>").wait(600);
    assert_eq!(chat.commands(), [Command::Reload]);
    chat.keys("/system-prompt replace<Enter>").wait(600);
    assert_eq!(chat.commands(), [Command::ReplaceSystemPrompt]);
    chat.keys("/system-prompt destroy<Enter>").wait(600);
    assert_eq!(chat.commands(), []);
    assert_eq!(chat.notice(), "Usage: /system-prompt replace");
    let text = "a\nuse chooseFunction\u{7}".into();
    let path = "/h/system_prompt.txt".into();
    let drawn = chat
        .size(80, 40)
        .asked(Ask::ReplacePrompt { path, text })
        .screen();
    for text in [
        "    - a",
        "    - use chooseFunction⟨BEL⟩",
        "system_prompt.txt.bak",
        "Replace it?",
    ] {
        assert!(drawn.contains(text), "{text} in\n{drawn}");
    }
}
