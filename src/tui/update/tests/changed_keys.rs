//! Keys that the user changed: they act, and everything on the screen names them.

use crate::domain::SessionId;
use crate::fixtures::key_settings;
use crate::tui::keymap::Action;
use crate::tui::update::tests::lists::{list_sessions, summary};
use crate::tui::update::tests::read_before_run::with_tool_call;
use crate::tui::update::tests::*;

impl ChatHarness {
    /// Changes keys and waits until the notices about lost keys are gone.
    fn change_keys(&mut self, entries: &[(&str, &[&str])]) -> &mut Self {
        self.set_keys(entries);
        while !self.wait(10_000).notice().is_empty() {}
        self
    }

    fn set_keys(&mut self, entries: &[(&str, &[&str])]) -> &mut Self {
        let keys = Arc::new(key_settings(entries));
        self.engine_event(Event::KeysChanged(keys))
    }
}

#[test]
fn a_key_given_to_the_palette_no_longer_edits_text() {
    let mut chat = chat();
    chat.change_keys(&[("commands", &["Ctrl+K"])]);
    assert!(
        chat.screen().contains("Ctrl+K commands"),
        "{}",
        chat.screen()
    );
    chat.keys("some text<Home><Ctrl+p><Ctrl+k>");
    assert!(chat.model.is_layer_open(Action::Commands));
    assert_eq!(chat.message(), "some text", "nothing is deleted");
    // In the filter of the list, the key deletes nothing either; it closes the list.
    chat.keys("model<Home><Ctrl+k>");
    assert!(chat.model.layer.is_none());
}

#[test]
fn the_log_names_all_entries_that_cannot_be_used() {
    let mut chat = chat();
    let names: Vec<String> = (0..15).map(|number| format!("wrong-{number}")).collect();
    let entries: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    chat.change_keys(&entries).size(120, 40).keys("<F12>");
    let screen = chat.screen();
    for name in &names {
        assert!(
            screen.contains(&format!("`keys.{name}`")),
            "{name}\n{screen}"
        );
    }
}

#[test]
fn help_palette_and_hints_name_the_changed_keys() {
    let mut chat = chat();
    chat.size(100, 30).change_keys(&[
        ("log", &["F9", "Alt+L"]),
        ("sidebar", &["Ctrl+S"]),
        ("help", &["F8"]),
        ("interrupt", &["Ctrl+X", "Ctrl+C"]),
    ]);
    let screen = chat.screen();
    assert!(screen.contains("Ctrl+S servers"), "{screen}");
    assert!(screen.contains("F8 help"), "{screen}");
    let help = chat.keys("<F8>show the log").screen();
    assert!(
        help.contains("F9, Alt+L ") && help.contains("/log [answer]"),
        "{help}"
    );
    assert!(!help.contains("F12"), "{help}");
    let palette = chat.keys("<F8><Ctrl+p>show the log").screen();
    assert!(palette.contains("F9"), "{palette}");
    chat.keys("<Esc><Esc><Ctrl+x><Alt+l>");
    assert!(chat.model.is_layer_open(Action::LOG));
    // The key that opens a layer also closes it.
    chat.keys("<F9>");
    assert!(chat.model.layer.is_none());
}

#[test]
fn hints_of_panes_name_the_changed_keys() {
    let mut chat = chat();
    chat.change_keys(&[
        ("previous-line", &["p"]),
        ("next-line", &["n"]),
        ("back", &["q", "Esc"]),
        ("mouse", &[]),
    ]);
    // A letter is rejected for an action that works everywhere.
    assert!(chat.screen().contains("`keys.back`"), "{}", chat.screen());
    let pane = chat.keys("<Tab>").screen();
    assert!(pane.contains("p/n select"), "{pane}");
    assert!(pane.contains("Esc message"), "{pane}");
    assert!(!pane.contains("Alt+M"), "{pane}");
}

#[test]
fn the_banner_disappears_when_the_entry_is_corrected() {
    let mut chat = chat();
    chat.change_keys(&[("commands", &["Ctrl+K"]), ("hlep", &["F2"])]);
    let screen = chat.screen();
    assert!(screen.contains("line 4: `keys.hlep`"), "{screen}");
    chat.keys("<Esc>");
    assert!(
        chat.screen().contains("`keys.hlep`"),
        "Esc does not hide it"
    );
    chat.change_keys(&[("help", &["F2"])]);
    let screen = chat.screen();
    assert!(!screen.contains("keys."), "{screen}");
    assert!(screen.contains("F2 help"), "{screen}");
    assert!(screen.contains("Ctrl+P commands"), "{screen}");
}

#[test]
fn approvals_name_the_changed_keys_and_enter_still_keeps_an_edit() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.change_keys(&[
        ("raw", &["F6"]),
        ("editor", &["Ctrl+E"]),
        ("send", &["Ctrl+S"]),
        ("newline", &["Enter", "Alt+Enter"]),
    ]);
    let screen = chat.wait(1_000).screen();
    assert!(screen.contains("F6 JSON"), "{screen}");
    let screen = chat.keys("<F6>").screen();
    assert!(screen.contains("F6 readable"), "{screen}");
    let screen = chat.keys("<F6>e").screen();
    assert!(screen.contains("Ctrl+E editor"), "{screen}");
    assert!(
        screen.contains("Enter keep · Alt+Enter newline"),
        "{screen}"
    );
    chat.keys("<Ctrl+e>");
    let opens_editor = |effect: &UiEffect| matches!(effect, UiEffect::OpenEditor(_));
    assert!(chat.sent.iter().any(opens_editor));
    chat.sent.clear();
    // Enter keeps the edit even though it is the key for a line break in the message.
    chat.keys("<Down><End>2<Enter>")
        .accept_check()
        .wait(1_000)
        .keys("y");
    assert!(matches!(&chat.decisions()[..], [Decision::Edit { .. }]));
}

#[test]
fn an_unbound_action_has_no_hint() {
    let mut chat = chat();
    chat.change_keys(&[("commands", &[]), ("newline", &[])]);
    let screen = chat.screen();
    assert!(!screen.contains("commands"), "{screen}");
    assert!(!screen.contains("newline"), "{screen}");
    assert!(screen.contains("Enter send"), "{screen}");
    chat.keys("<Ctrl+p>");
    assert!(chat.model.layer.is_none());
}

#[test]
fn sending_with_another_key_does_not_wait_for_a_paste() {
    let mut chat = chat();
    chat.change_keys(&[("send", &["Ctrl+S"]), ("newline", &["Enter"])]);
    chat.keys("one<Enter>two<Ctrl+s>");
    assert_eq!(chat.prompts(), ["one\ntwo"]);
}

#[test]
fn changed_keys_act_in_lists_and_their_hints_name_them() {
    let mut chat = chat();
    chat.size(100, 30).change_keys(&[
        ("scroll.down", &["Ctrl+N"]),
        ("list.choose", &["Ctrl+J"]),
        ("list.back", &["Ctrl+Q"]),
    ]);
    let first = chat.keys("<Ctrl+p>").screen();
    assert!(first.contains("Ctrl+J run · Ctrl+Q close"), "{first}");
    assert_eq!(chat.keys("<Down>").screen(), first, "the default is gone");
    assert_ne!(chat.keys("<Ctrl+n>").screen(), first);
    chat.keys("<Enter>");
    assert!(
        chat.model.is_layer_open(Action::Commands),
        "Enter chooses nothing"
    );
    chat.keys("<Ctrl+q>");
    assert!(chat.model.layer.is_none());
    chat.keys("<Ctrl+p>show the log<Ctrl+j>");
    assert!(chat.model.is_layer_open(Action::LOG));
    let help = chat.keys("<Esc><F1>list.choose").screen();
    assert!(help.contains("Ctrl+J  "), "{help}");
}

#[test]
fn changed_letters_answer_an_approval_and_its_choices_name_them() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.change_keys(&[
        ("answer.yes", &["j"]),
        ("answer.no", &["q"]),
        ("answer.always", &["w"]),
        ("answer.details", &["h"]),
        ("answer.full-height", &["z"]),
    ]);
    let screen = chat.wait(1_000).screen();
    assert!(screen.contains("Call now? (J/Q)"), "{screen}");
    assert!(screen.contains("j run  q stop  d deny"), "{screen}");
    assert!(screen.contains("w always"), "{screen}");
    assert!(screen.contains("z full"), "{screen}");
    let screen = chat.keys("y").screen();
    assert!(chat.is_asking(), "y answers nothing");
    assert!(screen.contains("j q d e s w z h"), "{screen}");
    let details = chat.wait(1_000).keys("h").screen();
    assert!(details.contains("1  j  Run it once"), "{details}");
    // The key of `j` on a Korean layout.
    chat.keys("h").wait(1_000).keys("ㅓ");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn a_changed_answer_letter_typed_within_a_message_does_not_answer() {
    let mut chat = chat();
    chat.change_keys(&[("answer.yes", &["j"])]);
    chat.keys("sum<Enter>")
        .wait(1_000)
        .keys("a")
        .ask_about_calls(&[1]);
    chat.screen();
    chat.wait(1_000).keys_every(100, "jk");
    assert!(chat.is_asking());
    assert_eq!(chat.message(), "ajk");
}

#[test]
fn changed_keys_leave_and_answer_a_question() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.change_keys(&[
        ("question.back", &["Ctrl+Q"]),
        ("question.choose", &["Ctrl+J"]),
        ("question.page-down", &["Ctrl+D"]),
        // The key of a global action, which must not keep it from leaving the field.
        ("field.back", &["Ctrl+O"]),
    ]);
    let screen = chat.wait(1_000).keys("?").screen();
    assert!(
        screen.contains("Ctrl+Q back · PgUp/Ctrl+D scroll"),
        "{screen}"
    );
    let screen = chat.keys("<Esc>").screen();
    assert!(screen.contains("Ctrl+Q back"), "{screen}");
    let screen = chat.keys("<Ctrl+q>").wait(1_000).keys("d").screen();
    assert!(screen.contains("Enter deny · Ctrl+O back"), "{screen}");
    chat.keys("<Ctrl+o>")
        .wait(1_000)
        .keys("<Down><Down><Enter>");
    assert!(chat.is_asking(), "Enter answers nothing");
    chat.keys("<Ctrl+j>");
    assert_eq!(chat.decisions(), [Decision::Refuse]);
}

#[test]
fn deleting_a_conversation_names_the_changed_keys() {
    let mut chat = chat();
    chat.change_keys(&[("confirm.yes", &["j"]), ("sessions.undo-delete", &["z"])]);
    chat.keys("<F4>");
    list_sessions(&mut chat, 1, vec![summary("a", "Seoul")]);
    let screen = chat.keys("<Tab>d").screen();
    assert!(screen.contains("Delete \"Seoul\"? (j/n)"), "{screen}");
    chat.keys("j<Esc><Esc>");
    let session = SessionId::from("a");
    let title = "Seoul".to_owned();
    chat.engine_event(Event::SessionDeleted { session, title });
    let screen = chat.size(120, 30).screen();
    let advice = "Press z in /sessions, or type /delete undo, to restore it.";
    assert!(screen.contains(advice), "{screen}");
}

#[test]
fn the_hint_for_queued_prompts_names_the_changed_key() {
    let mut chat = chat();
    chat.size(120, 24).keys("one<Enter>two<Enter>");
    assert!(
        chat.screen().contains("Up queued prompts"),
        "{}",
        chat.screen()
    );
    chat.change_keys(&[("up", &["Alt+Up"])]);
    assert!(
        chat.screen().contains("Alt+Up queued prompts"),
        "{}",
        chat.screen()
    );
}

#[test]
fn the_notice_about_a_message_without_branches_names_the_changed_key() {
    let mut chat = chat();
    chat.change_keys(&[("edit-message", &["k"])]);
    chat.keys("one<Enter>")
        .model_answers("1")
        .keys("<Tab><Up>b");
    chat.engine_event(Event::BranchesListed(Vec::new()));
    assert_eq!(
        chat.notice(),
        "This message has no other branches. k edits it into a new one."
    );
}

#[test]
fn the_room_beside_a_notice_is_measured_in_columns() {
    let mut chat = chat();
    chat.change_keys(&[("interrupt", &["Alt+ö", "Ctrl+C"])]);
    chat.keys("hello<Enter>");
    // The name of the key has one more byte than columns.
    let room = 80 - "Alt+Ö stop".chars().count() - 7;
    let text = format!("{}한", "x".repeat(room - 2));
    chat.engine_event(Event::NoticePosted(Notice::info(text)));
    let screen = chat.screen();
    let last = screen.lines().last().expect("a hint line");
    assert!(
        last.contains("xxx") && last.contains("Alt+Ö stop"),
        "{screen}"
    );
}

#[test]
fn an_action_that_lost_its_key_is_reported_once() {
    for (entries, expected) in [
        (
            &[("commands", &["Ctrl+F"][..])][..],
            "Ctrl+F is now the key of `commands`, so `find` has none. Set `keys.find` to give it one.",
        ),
        (
            &[("commands", &["Ctrl+O"])],
            "Ctrl+O is now the key of `commands`; `sessions` still has F4.",
        ),
        (&[("commands", &["Ctrl+F"]), ("find", &["F9"])], ""),
        (&[("commands", &["F9"])], ""),
    ] {
        let mut chat = chat();
        chat.set_keys(entries);
        assert_eq!(chat.notice(), expected);
        chat.wait(10_000).set_keys(entries);
        assert_eq!(chat.notice(), "", "the same keys again: {entries:?}");
    }
}

#[test]
fn all_actions_that_lost_a_key_are_named_at_once() {
    let mut chat = chat();
    chat.engine_event(Event::LowPriorityNoticePosted(Notice::info("First.")));
    chat.engine_event(Event::LowPriorityNoticePosted(Notice::info("Later.")));
    chat.set_keys(&[("commands", &["Ctrl+F", "Ctrl+O", "Ctrl+R"])]);
    assert_eq!(chat.notice(), "First.");
    assert_eq!(
        chat.wait(10_000).notice(),
        "Your `keys` took keys from `sessions` (Ctrl+O; F4 is left), `find` (Ctrl+F) and `recall` \
         (Ctrl+R). /help lists all keys."
    );
    assert_eq!(chat.wait(10_000).notice(), "Later.");
    let keys = ["F1", "F3", "F5", "F12", "Ctrl+F", "Ctrl+R", "Alt+R"];
    chat.set_keys(&[("commands", &keys)]).wait(10_000);
    let notice = chat.notice();
    assert!(notice.contains(" and 2 more."), "{notice}");
}

#[test]
fn a_later_edit_drops_the_notice_about_lost_keys() {
    let mut chat = chat();
    chat.engine_event(Event::LowPriorityNoticePosted(Notice::info("First.")));
    chat.set_keys(&[("commands", &["Ctrl+F"])]);
    chat.set_keys(&[]);
    assert_eq!(chat.notice(), "First.");
    assert_eq!(chat.wait(10_000).notice(), "", "while it waits");
    chat.set_keys(&[("commands", &["Ctrl+F"])]);
    assert!(chat.notice().starts_with("Ctrl+F is now"));
    chat.set_keys(&[]);
    assert_eq!(chat.notice(), "", "while it is shown");
}

#[test]
fn the_notice_about_lost_keys_outlasts_that_about_the_reload() {
    let mut chat = chat();
    chat.set_keys(&[("commands", &["Ctrl+F"])]);
    chat.engine_event(Event::NoticePosted(Notice::info("Settings applied.")));
    assert_eq!(chat.notice(), "Settings applied.");
    assert!(chat.wait(10_000).notice().starts_with("Ctrl+F is now"));
}
