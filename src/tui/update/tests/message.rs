//! The message editor: sending, pasting, queueing, commands, quitting.

use crate::tui::update::tests::*;

#[test]
fn prompt_is_shown_before_it_is_sent() {
    let mut chat = chat();
    chat.keys("hello<Enter>");
    assert!(chat.model.chat.transcript.wait_reason().is_some());
    assert!(
        matches!(&chat.model.chat.transcript.entries()[0].body, EntryBody::Prompt { text, .. } if text == "hello")
    );
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn prompt_sent_by_a_program_in_one_write_is_submitted() {
    let mut chat = chat();
    chat.type_at_once("hello\n").wait(20);
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn unbracketed_paste_is_not_submitted() {
    let mut chat = chat();
    chat.type_at_once("one\ntwo\n")
        .wait(20)
        .type_at_once("")
        .wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn paste_split_after_a_newline_is_not_submitted() {
    let mut chat = chat();
    chat.type_at_once("some text\n")
        .type_at_once("more text")
        .wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "some text\nmore text")
    );
}

#[test]
fn paste_is_not_submitted() {
    let mut chat = chat();
    chat.input(UiInput::Paste("one\r\ntwo\n".into()));
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn prompt_during_a_turn_is_queued() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>");
    assert_eq!(chat.prompts(), ["one"]);
    chat.model_answers("1");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn queued_prompt_can_be_recalled() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Up><Enter>");
    assert_eq!(chat.message(), "two");
    assert!(!chat.model.composer.queue.is_empty(), "it keeps its place");
}

#[test]
fn an_interrupt_pauses_the_queue_until_enter() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Ctrl+c>");
    assert!(chat.commands().contains(&Command::Interrupt));
    chat.turn_ends(TurnEnd::Cancelled);
    assert!(chat.prompts().is_empty());
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn up_recalls_an_interrupted_prompt() {
    let mut chat = chat();
    chat.keys("one<Enter><Ctrl+c>")
        .turn_ends(TurnEnd::Cancelled)
        .keys("<Up>");
    assert_eq!(chat.message(), "one");
}

#[test]
fn ctrl_c_without_a_turn_clears_the_message_and_then_quits() {
    let mut chat = chat();
    chat.keys("draft<Ctrl+c>");
    assert_eq!(chat.message(), "");
    assert!(!chat.sent.contains(&UiEffect::Quit));
    chat.keys("<Up>");
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+c><Ctrl+c>");
    assert_eq!(chat.sent.last(), Some(&UiEffect::Quit));
}

#[test]
fn ctrl_c_loses_neither_the_recalled_nor_the_unsent_text() {
    let mut chat = chat();
    chat.keys("old<Enter>").model_answers("1");
    chat.keys("new<Home><Up><Ctrl+c>");
    assert_eq!(chat.message(), "");
    for expected in ["old", "new"] {
        chat.keys("<Up>");
        assert_eq!(chat.message(), expected);
    }
}

#[test]
fn quitting_saves_the_draft() {
    let mut chat = chat();
    chat.keys("draft").quits();
    let save_draft = UiEffect::Send(Command::SaveDraft("draft".into()));
    assert_eq!(chat.sent, [save_draft, UiEffect::Quit]);
}

#[test]
fn ctrl_c_right_after_a_turn_needs_a_second_press() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").keys("<Ctrl+c>");
    assert_eq!(chat.notice(), "Ctrl+C again to quit");
    assert!(!chat.sent.contains(&UiEffect::Quit));
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&UiEffect::Quit));
}

#[test]
fn unknown_command_is_not_sent_and_gets_a_suggestion() {
    let mut chat = chat();
    chat.keys("/sesions<Enter>");
    assert_eq!(
        chat.notice(),
        "Unknown command /sesions. Did you mean /sessions?"
    );
    assert!(chat.commands().is_empty());
    chat.keys("<Ctrl+u>/tmp/x.txt is broken<Enter>");
    assert_eq!(
        chat.notice(),
        "Unknown command /tmp/x.txt. To send a path, put a space before it."
    );
    chat.keys("<Home> <Enter>");
    assert_eq!(chat.prompts().len(), 1);
}

#[test]
fn tab_completes_a_slash_command() {
    let mut chat = chat();
    chat.keys("/set-t<Tab>auto<Enter>");
    let auto = crate::domain::ToolMode::Auto;
    assert_eq!(chat.commands(), [Command::SetToolMode(auto)]);
}

#[test]
fn rejected_command_ends_its_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    let Some(UiEffect::Send(command)) = chat.sent.pop() else {
        panic!("no prompt was submitted");
    };
    chat.input(UiInput::CommandRejected(Box::new(command)));
    assert_eq!(chat.model.running_turn(), None);
}

#[test]
fn draft_of_the_last_run_is_restored() {
    let mut chat = chat();
    let prompts = Arc::new(vec!["old".to_owned()]);
    let draft = Some("draft".into());
    chat.engine_event(Event::HistoryLoaded { prompts, draft });
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+u><Up>");
    assert_eq!(chat.message(), "old");
}

#[test]
fn a_byte_order_mark_in_pasted_or_edited_text_is_removed() {
    let mut chat = chat();
    chat.input(UiInput::Paste("\u{feff}make a note".into()));
    assert_eq!(chat.message(), "make a note");
    chat.input(UiInput::EditorClosed(Ok("\u{feff}/notes on\n".into())));
    assert_eq!(chat.message(), "/notes on");
}

#[test]
fn the_hint_explains_the_effect_of_sending_an_edit() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("<Tab><Up>e");
    let screen = chat.screen();
    assert!(
        screen.contains("Enter keep the edit (nothing is sent)"),
        "{screen}"
    );
    chat.keys("<Esc>").wait(7_000).keys("/edit<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Enter send the edit"), "{screen}");
}

#[test]
fn prompts_with_other_branches_are_marked() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("two<Enter>").model_answers("2").screen();
    chat.engine_event(Event::BranchesCounted(vec![0, 2]));
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().map(str::trim).collect();
    let two = rows
        .iter()
        .position(|row| *row == "▌ two")
        .expect("a prompt");
    assert_eq!(rows[two + 1], "2 other branches", "{screen}");
    assert_eq!(screen.matches("other branch").count(), 1, "{screen}");
    chat.engine_event(Event::BranchesCounted(vec![1, 0]));
    let screen = chat.screen();
    assert!(screen.contains("1 other branch"), "{screen}");
    // An unanswered prompt is not counted.
    chat.keys("three<Enter>").turn_ends(TurnEnd::Cancelled);
    chat.engine_event(Event::BranchesCounted(vec![0, 1]));
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().map(str::trim).collect();
    let two = rows
        .iter()
        .position(|row| *row == "▌ two")
        .expect("a prompt");
    assert_eq!(rows[two + 1], "1 other branch", "{screen}");
}

#[test]
fn a_long_prompt_is_recalled_as_a_folded_paste() {
    let mut chat = chat();
    let paste = "line\n".repeat(500);
    chat.keys("see ").input(UiInput::Paste(paste.clone()));
    chat.keys("<Enter>").model_answers("Yes.").wait(2_000);
    chat.prompts();
    chat.keys("<Up>");
    let screen = chat.screen();
    assert!(screen.contains("› [Pasted 500 lines]"), "{screen}");
    assert_eq!(chat.message(), format!("see {paste}"));
    chat.keys("<Alt+u>");
    assert!(
        chat.screen().contains("Alt+U fold the paste"),
        "{}",
        chat.screen()
    );
    chat.keys("<Alt+u>");
    assert!(chat.screen().contains("[Pasted 500 lines]"));
    chat.keys("<Ctrl+c><Ctrl+r>see<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("› [Pasted 500 lines]"), "{screen}");
}

#[test]
fn edits_of_recalled_prompts_are_kept_and_down_leads_back_to_the_draft() {
    let mut chat = chat();
    for prompt in ["one", "two", "three"] {
        chat.keys(prompt).keys("<Enter>").model_answers("Yes.");
    }
    chat.keys("draft<Home><Up><Home><Up>");
    assert_eq!(chat.message(), "two");
    chat.keys("!<Down>");
    assert_eq!(chat.message(), "three");
    chat.keys("<Down>");
    assert_eq!(chat.message(), "draft");
    chat.keys("<Home><Up><Home><Up>");
    assert_eq!(chat.message(), "two!", "the edit is kept");
    chat.input(UiInput::Paste("?".into()))
        .keys("<Home><Up><End><Down>");
    assert_eq!(chat.message(), "two!?");
    chat.sent.clear();
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["two!?"]);
    chat.model_answers("Yes.").wait(2_000);
    let mut recalled = Vec::new();
    for _ in 0..5 {
        chat.keys("<Home><Up>");
        recalled.push(chat.message());
    }
    assert_eq!(
        recalled,
        ["two!?", "draft", "three", "two", "one"],
        "the history itself is unchanged"
    );
}

#[test]
fn down_returns_to_the_draft_even_if_the_recalled_prompt_was_replaced() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("Yes.");
    chat.keys("draft<Home><Up><Ctrl+u>new<Down>");
    assert_eq!(chat.message(), "draft");
}

#[test]
fn an_edited_recalled_prompt_is_saved_as_the_draft_if_there_is_no_other_draft() {
    for (keys, message, others) in [
        ("<Up>!", "one!", &[][..]),
        ("draft<Home><Up>!", "draft", &["one!"]),
    ] {
        let mut chat = chat();
        chat.keys("one<Enter>").model_answers("Yes.");
        chat.keys(keys).wait(10_000).quits();
        let drafts = chat
            .commands()
            .into_iter()
            .filter_map(|command| match command {
                Command::SaveDraft(draft) => Some(draft),
                _ => None,
            });
        let draft = drafts.last().expect("a draft");
        assert_eq!(
            (&*draft.message, &draft.others[..]),
            (
                message,
                &others.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
            )
        );
    }
}
