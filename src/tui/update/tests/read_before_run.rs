//! A call runs only after all of its rows have been drawn.

use crate::fixtures::{tool_call, tool_from};
use crate::questions;
use crate::tui::dialog::state::DialogMode;
use crate::tui::update::tests::*;

pub(super) fn with_tool_call(
    size: (u16, u16),
    description: &str,
    arguments: &serde_json::Value,
) -> ChatHarness {
    with_named_tool_call(size, ("write", "files"), description, arguments)
}

pub(super) fn with_named_tool_call(
    size: (u16, u16),
    (tool, server): (&str, &str),
    description: &str,
    arguments: &serde_json::Value,
) -> ChatHarness {
    let mut chat = chat();
    chat.size(size.0, size.1).keys("go<Enter>");
    chat.turn_event(TurnEvent::Tool(tool_call(server, tool, arguments.clone())));
    let definition = json!({
        "name": tool,
        "description": description,
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true},
    });
    let tool = Arc::new(tool_from(&definition));
    let call = CallId(1);
    chat.ask_question(questions::approve(vec![CallToApprove { call, tool }]));
    chat.wait(600).sent.clear();
    chat
}

fn lines(count: usize) -> serde_json::Value {
    json!({ "lines": (0..count).map(|n| format!("<{n}>")).collect::<Vec<_>>() })
}

/// The visible rows of the dialog's body, between its two rules.
pub(super) fn rows(chat: &mut ChatHarness) -> Vec<String> {
    let screen = chat.screen();
    let columns = match chat.model.screen.size.0 {
        width @ 110.. => width - 36,
        width => width,
    };
    let body = screen.lines().skip_while(|row| !row.starts_with("── Run "));
    let body = body.skip(1).take_while(|row| !row.starts_with("──"));
    let row = |row: &str| row.chars().take(columns.into()).collect::<String>();
    let body: Vec<_> = body.map(|text| row(text).trim_end().to_owned()).collect();
    assert!(!body.is_empty(), "no dialog in\n{screen}");
    body
}

/// Returns the visible rows of every page.
fn read_through(chat: &mut ChatHarness) -> Vec<Vec<String>> {
    let mut pages = vec![rows(chat)];
    for _ in 0..100 {
        chat.keys("<PgDn>");
        let page = rows(chat);
        if pages.last() == Some(&page) {
            return pages;
        }
        pages.push(page);
    }
    panic!("the dialog never ends");
}

/// Takes the commands. Returns whether the last one runs all calls.
pub(super) fn takes_run_answer(chat: &mut ChatHarness) -> bool {
    match chat.commands().pop() {
        Some(Command::Answer { answer, .. }) => match answer {
            UserAnswer::Calls(calls) => {
                calls.iter().all(|(_, decision)| *decision == Decision::Run)
            }
            other => panic!("{other:?}"),
        },
        _ => false,
    }
}

#[test]
fn y_scrolls_until_all_is_drawn_and_then_runs_the_call() {
    let mut chat = with_tool_call((80, 24), "Writes.", &lines(40));
    let mut presses = 0;
    while chat.model.dialogs.queued()[0].undrawn_rows > 0 {
        chat.wait(1_000).keys("y");
        presses += 1;
        assert_eq!(chat.commands(), [], "after {presses}");
    }
    assert!(presses > 2, "{presses}");
    chat.keys("y");
    assert_eq!(chat.commands(), [], "the end has only just become visible");
    chat.wait(1_000).keys("y");
    assert!(takes_run_answer(&mut chat));
}

#[test]
fn choices_that_run_the_call_wait_until_all_is_drawn() {
    for key in ["y", "1", "ㅛ", "s", "5", "6", "7", "8", "<Down><Enter>"] {
        let mut chat = with_tool_call((80, 24), "", &lines(40));
        chat.keys(key);
        assert_eq!(chat.commands(), [], "{key}");
        assert!(
            matches!(chat.model.dialogs.queued()[0].mode, DialogMode::Choosing),
            "{key}"
        );
        assert!(chat.model.dialogs.queued()[0].scroll > 0, "{key} scrolls");
    }
    for (key, expected) in [
        ("n", Decision::Refuse),
        ("<Esc>", Decision::Refuse),
        ("d<Enter>", Decision::Deny { message: None }),
        ("9", Decision::Never),
    ] {
        let mut chat = with_tool_call((80, 24), "", &lines(40));
        chat.keys(key);
        assert_eq!(chat.decisions(), [expected], "{key}");
    }
}

#[test]
fn held_key_that_reveals_the_end_never_runs_the_call() {
    let mut chat = with_tool_call((80, 24), "", &lines(20));
    chat.keys("y");
    assert_eq!(chat.model.dialogs.queued()[0].undrawn_rows, 0);
    // The first repeat of a held key is slow, later ones are fast.
    chat.wait(590);
    for _ in 0..40 {
        chat.keys_every(30, "y");
    }
    assert_eq!(chat.commands(), []);
    chat.wait(1_000).keys("y");
    assert!(takes_run_answer(&mut chat));
}

#[test]
fn new_key_runs_the_call_half_a_second_after_the_end_is_visible() {
    for (wait, is_run) in [(400, false), (500, true)] {
        let mut chat = with_tool_call((80, 24), "", &lines(20));
        chat.keys("<PgDn><PgDn>").wait(wait).keys("y");
        assert_eq!(takes_run_answer(&mut chat), is_run, "after {wait} ms");
    }
}

#[test]
fn keys_between_two_frames_skip_no_row() {
    let mut chat = with_tool_call((80, 24), "", &lines(60));
    let page = |chat: &mut ChatHarness| {
        for _ in 0..7 {
            let now = chat.model.now;
            let input = UiInput::Key(key(KeyCode::PageDown, KeyModifiers::NONE));
            update(&mut chat.model, Msg::new(now, input));
        }
        chat.wait(30);
    };
    for _ in 0..40 {
        page(&mut chat);
    }
    assert_eq!(chat.model.dialogs.queued()[0].undrawn_rows, 0);
    // Jumping to the end is allowed, but skipped rows must be shown before the call runs.
    let mut chat = with_tool_call((80, 24), "", &lines(60));
    let last = rows(&mut chat).pop().expect("a row");
    assert_eq!(last, "      \"<11>\",");
    chat.keys("<End>").wait(1_000);
    let undrawn = chat.model.dialogs.queued()[0].undrawn_rows;
    assert!(undrawn > 30, "{undrawn}");
    chat.keys("y");
    assert_eq!(chat.commands(), []);
    let visible = rows(&mut chat);
    assert_eq!(visible[0], "      \"<12>\",", "{visible:#?}");
}

#[test]
fn drawn_rows_still_count_after_a_resize() {
    let words: String = (0..1_200).map(|n| format!("word{n} ")).collect();
    let arguments = json!({ "text": words });
    let mut chat = with_tool_call((104, 30), "", &arguments);
    read_through(&mut chat);
    assert_eq!(chat.model.dialogs.queued()[0].undrawn_rows, 0);
    chat.size(64, 20).wait(1_000).keys("y");
    assert!(takes_run_answer(&mut chat));
    // In a call that was read in part, the same part stays unread at any width.
    let mut chat = with_tool_call((104, 30), "", &arguments);
    chat.keys("<PgDn><PgDn>");
    let undrawn = chat.model.dialogs.queued()[0].undrawn_rows;
    assert!(undrawn > 5, "{undrawn}");
    chat.size(64, 20);
    let narrow_undrawn = chat.model.dialogs.queued()[0].undrawn_rows;
    assert!(narrow_undrawn > undrawn, "{narrow_undrawn}");
    chat.size(104, 30);
    assert!(chat.model.dialogs.queued()[0].undrawn_rows <= undrawn);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn resize_keeps_the_reading_position() {
    let mut chat = with_tool_call((104, 30), "", &lines(200));
    chat.keys("<PgDn><PgDn><PgDn>");
    let top_row = |chat: &mut ChatHarness| {
        let body = chat.dialog_rows();
        body[chat.model.dialogs.queued()[0].scroll]
            .trim()
            .to_owned()
    };
    let before = top_row(&mut chat);
    chat.size(40, 12).size(80, 24);
    assert_eq!(top_row(&mut chat), before);
}

#[test]
fn changed_arguments_must_be_drawn_again() {
    let mut chat = with_tool_call((80, 24), "", &lines(20));
    read_through(&mut chat);
    assert_eq!(chat.model.dialogs.queued()[0].undrawn_rows, 0);
    chat.turn_event(TurnEvent::Tool(tool_call("files", "write", lines(20))));
    assert_eq!(
        chat.model.dialogs.queued()[0].undrawn_rows,
        0,
        "the arguments are unchanged"
    );
    chat.turn_event(TurnEvent::Tool(tool_call("files", "write", lines(21))));
    assert!(chat.model.dialogs.queued()[0].undrawn_rows > 0);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn edit_that_was_not_fully_drawn_is_shown_before_it_runs() {
    let mut chat = with_tool_call((80, 24), "", &lines(40));
    read_through(&mut chat);
    chat.wait(1_000).keys("e<Ctrl+Home>");
    let DialogMode::EditArguments { editor, .. } = &mut chat.model.dialogs.queued_mut()[0].mode
    else {
        panic!("no field is open");
    };
    let text = editor.text().replace("<3>", "<three>");
    editor.set(&text);
    chat.keys("<Enter>").accept_check();
    assert_eq!(chat.commands(), []);
    assert!(
        chat.model.dialogs.queued()[0].undrawn_rows > 0,
        "the edit was not drawn yet"
    );
    chat.wait(1_000);
    let pages = read_through(&mut chat).concat();
    assert!(
        pages.iter().any(|row| row.contains("<three>")),
        "{pages:#?}"
    );
    for key in ["s", "5", "6", "7", "8"] {
        chat.wait(1_000).keys(key);
        assert_eq!(
            chat.commands(),
            [],
            "{key} would allow the original arguments"
        );
    }
    chat.wait(1_000).keys("y");
    let decisions = chat.decisions();
    let [Decision::Edit { arguments }] = &decisions[..] else {
        panic!("{decisions:?}");
    };
    assert_eq!(arguments["lines"][3], "<three>");
}

#[test]
fn run_all_needs_every_call_fully_drawn() {
    let mut chat = chat();
    chat.keys("go<Enter>").ask_about_calls(&[1, 2]);
    chat.turn_event(TurnEvent::Tool(tool_call("sums", "add", lines(12))));
    chat.wait(600).keys("<Right>").wait(1_000).keys("0");
    assert_eq!(chat.commands().len(), 1, "only the prompt was sent");
    assert_eq!(
        chat.model.dialogs.queued()[0].call_index,
        0,
        "the dialog shows the unread call"
    );
    read_through(&mut chat);
    chat.wait(1_000).keys("0");
    assert_eq!(chat.decisions(), [Decision::Run, Decision::Run]);
}

#[test]
fn very_long_arguments_can_run_unread_after_confirmation() {
    let mut chat = with_tool_call((80, 24), "", &lines(2_000));
    assert!(chat.model.dialogs.queued()[0].undrawn_rows > 1_900);
    let screen = chat.screen();
    assert!(screen.contains("r run unread…"), "{screen}");
    chat.keys("rno<Enter>");
    assert_eq!(chat.commands(), []);
    chat.keys("<Esc>r").wait(1_000).keys("run<Enter>");
    assert!(takes_run_answer(&mut chat));
    let running = ToolCall {
        state: ToolState::Running { progress: None },
        ..tool_call("files", "write", lines(2_000))
    };
    chat.turn_event(TurnEvent::Tool(running));
    let screen = chat.screen();
    assert!(screen.contains("1,989 rows not read"), "{screen}");
}

#[test]
fn a_few_hundred_rows_cannot_run_unread() {
    let mut chat = with_tool_call((80, 24), "", &lines(400));
    let screen = chat.keys("r").screen();
    assert!(!screen.contains("unread"), "{screen}");
    assert!(matches!(
        chat.model.dialogs.queued()[0].mode,
        DialogMode::Choosing
    ));
}

#[test]
fn megabyte_argument_is_wrapped_once_and_must_be_read() {
    let mut chat = with_tool_call((200, 60), "", &json!({ "a": "x".repeat(1 << 20) }));
    let rows = chat.model.dialogs.queued()[0].body_rows().as_ptr();
    for _ in 0..50 {
        chat.keys("<PgDn>");
    }
    assert_eq!(chat.model.dialogs.queued()[0].body_rows().as_ptr(), rows);
    assert!(chat.model.dialogs.queued()[0].undrawn_rows > 500);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn dialog_drawn_under_half_a_second_ago_ignores_keys() {
    let mut chat = chat();
    chat.keys("go<Enter>").ask_about_calls(&[1]).wait(600);
    // The program stalled between the question and its first frame.
    let mut late = self::chat();
    late.keys("go<Enter>").ask_about_calls(&[1]);
    late.model.dialogs.queued_mut()[0].is_drawn = false;
    late.sent.clear();
    late.model.now += Duration::from_millis(600);
    let now = late.model.now;
    update(&mut late.model, Msg::new(now, UiInput::Tick));
    late.keys("y");
    assert_eq!((late.commands().len(), late.message().as_str()), (0, "y"));
    // The program stalled after drawing the dialog, so this key may have been typed before the
    // user could read the dialog.
    let mut stalled = self::chat();
    stalled.keys("go<Enter>").ask_about_calls(&[1]);
    stalled.sent.clear();
    stalled.model.now += Duration::from_millis(600);
    stalled.input(UiInput::Key(key(KeyCode::Char('y'), KeyModifiers::NONE)));
    assert_eq!(stalled.commands(), []);
    chat.sent.clear();
    chat.keys("y");
    assert!(takes_run_answer(&mut chat));
}
