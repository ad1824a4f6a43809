//! A call runs only after all of it was drawn: which keys wait, and what unblocks them.

use crate::fixtures::{tool_call, tool_from};
use crate::tui::dialog::state::Form;
use crate::tui::update::tests::*;

/// A dialog about one call with these arguments, of a tool with this description.
pub(super) fn of_tool(size: (u16, u16), description: &str, arguments: &serde_json::Value) -> Chat {
    named_tool(size, ("write", "files"), description, arguments)
}

pub(super) fn named_tool(
    size: (u16, u16),
    (tool, server): (&str, &str),
    description: &str,
    arguments: &serde_json::Value,
) -> Chat {
    let mut chat = chat();
    chat.size(size.0, size.1).keys("go<Enter>");
    chat.turn(TurnEvent::Tool(tool_call(server, tool, arguments.clone())));
    let definition = json!({
        "name": tool,
        "description": description,
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true},
    });
    let tool = Arc::new(tool_from(&definition));
    let call = CallId(1);
    chat.asked(Ask::Approve(vec![ApproveCall { call, tool }]));
    chat.wait(600).sent.clear();
    chat
}

fn lines(count: usize) -> serde_json::Value {
    json!({ "lines": (0..count).map(|n| format!("<{n}>")).collect::<Vec<_>>() })
}

/// The rows inside the dialog's frame.
pub(super) fn rows(chat: &mut Chat) -> Vec<String> {
    let screen = chat.screen();
    let inside = screen.lines().filter_map(|row| {
        let row = row.strip_prefix("│ ")?;
        Some(row.split(" │").next().unwrap_or(row).trim_end().to_owned())
    });
    inside.collect()
}

/// The visible rows of every page of the dialog.
fn read_through(chat: &mut Chat) -> Vec<Vec<String>> {
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

pub(super) fn is_run(chat: &mut Chat) -> bool {
    match chat.commands().pop() {
        Some(Command::Answer { answer, .. }) => match answer {
            Answer::Calls(calls) => calls.iter().all(|(_, decision)| *decision == Decision::Run),
            other => panic!("{other:?}"),
        },
        _ => false,
    }
}

#[test]
fn a_choice_that_grants_scrolls_until_all_was_drawn_and_then_runs() {
    let mut chat = of_tool((80, 24), "Writes.", &lines(20));
    let mut presses = 0;
    while chat.model.dialogs.asks()[0].rows_left > 0 {
        chat.wait(1_000).keys("y");
        presses += 1;
        assert_eq!(chat.commands(), [], "after {presses}");
    }
    assert!(presses > 2, "{presses}");
    chat.keys("y");
    assert_eq!(chat.commands(), [], "the end has only just become visible");
    chat.wait(1_000).keys("y");
    assert!(is_run(&mut chat));
}

#[test]
fn every_choice_that_grants_waits_and_every_other_works_at_once() {
    for key in ["y", "1", "ㅛ", "s", "5", "6", "7", "8", "<Down><Enter>"] {
        let mut chat = of_tool((80, 24), "", &lines(40));
        chat.keys(key);
        assert_eq!(chat.commands(), [], "{key}");
        assert!(
            matches!(chat.model.dialogs.asks()[0].form, Form::Choosing),
            "{key}"
        );
        assert!(chat.model.dialogs.asks()[0].scroll > 0, "{key} scrolls");
    }
    for (key, expected) in [
        ("n", Decision::Refuse),
        ("<Esc>", Decision::Refuse),
        ("d<Enter>", Decision::Deny { word: None }),
        ("9", Decision::Never),
    ] {
        let mut chat = of_tool((80, 24), "", &lines(40));
        chat.keys(key);
        assert_eq!(chat.decided(), [expected], "{key}");
    }
}

#[test]
fn the_key_that_shows_the_end_never_runs_the_call_however_long_it_is_held() {
    let mut chat = of_tool((80, 24), "", &lines(6));
    chat.keys("y");
    assert_eq!(chat.model.dialogs.asks()[0].rows_left, 0);
    // The first repeat of a held key is slow, later ones are fast.
    chat.wait(590);
    for _ in 0..40 {
        chat.keys("y");
    }
    assert_eq!(chat.commands(), []);
    chat.wait(1_000).keys("y");
    assert!(is_run(&mut chat));
}

#[test]
fn another_key_runs_it_half_a_second_after_the_end_came_into_view() {
    for (wait, runs) in [(400, false), (500, true)] {
        let mut chat = of_tool((80, 24), "", &lines(6));
        chat.keys("<PgDn><PgDn>").wait(wait).keys("y");
        assert_eq!(is_run(&mut chat), runs, "after {wait} ms");
    }
}

#[test]
fn keys_that_come_between_two_frames_skip_no_row() {
    let mut chat = of_tool((80, 24), "", &lines(60));
    let page = |chat: &mut Chat| {
        for _ in 0..7 {
            let at = chat.model.now;
            let input = Input::Key(key(KeyCode::PageDown, KeyModifiers::NONE));
            update(&mut chat.model, Msg::new(at, input));
        }
        chat.wait(30);
    };
    for _ in 0..40 {
        page(&mut chat);
    }
    assert_eq!(chat.model.dialogs.asks()[0].rows_left, 0);
    // Jumping to the end is allowed, but skipped rows must be shown before the call runs.
    let mut chat = of_tool((80, 24), "", &lines(60));
    chat.keys("<End>").wait(1_000);
    let left = chat.model.dialogs.asks()[0].rows_left;
    assert!(left > 30, "{left}");
    chat.keys("y");
    assert_eq!(chat.commands(), []);
    let first: Vec<_> = rows(&mut chat);
    assert!(first.iter().any(|row| row.contains("<5>")), "{first:#?}");
}

#[test]
fn what_was_drawn_survives_a_resize() {
    let words: String = (0..600).map(|n| format!("word{n} ")).collect();
    let words = json!({ "text": words });
    let mut chat = of_tool((104, 30), "", &words);
    read_through(&mut chat);
    assert_eq!(chat.model.dialogs.asks()[0].rows_left, 0);
    chat.size(64, 20).wait(1_000).keys("y");
    assert!(is_run(&mut chat));
    // A half-read call stays half read at any width, from the same position on.
    let mut chat = of_tool((104, 30), "", &words);
    chat.keys("<PgDn><PgDn>");
    let half = chat.model.dialogs.asks()[0].rows_left;
    assert!(half > 5, "{half}");
    chat.size(64, 20);
    let narrow = chat.model.dialogs.asks()[0].rows_left;
    assert!(narrow > half, "{narrow}");
    chat.size(104, 30);
    assert!(chat.model.dialogs.asks()[0].rows_left <= half);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn a_resize_keeps_the_place_that_is_read() {
    let mut chat = of_tool((104, 30), "", &lines(200));
    chat.keys("<PgDn><PgDn><PgDn>");
    let first = |chat: &mut Chat| {
        let body = chat.model.dialogs.asks()[0].body();
        body[chat.model.dialogs.asks()[0].scroll].trim().to_owned()
    };
    let before = first(&mut chat);
    chat.size(40, 12).size(80, 24);
    assert_eq!(first(&mut chat), before);
}

#[test]
fn other_arguments_have_to_be_drawn_anew() {
    let mut chat = of_tool((80, 24), "", &lines(20));
    read_through(&mut chat);
    assert_eq!(chat.model.dialogs.asks()[0].rows_left, 0);
    chat.turn(TurnEvent::Tool(tool_call("files", "write", lines(20))));
    assert_eq!(
        chat.model.dialogs.asks()[0].rows_left,
        0,
        "the arguments are unchanged"
    );
    chat.turn(TurnEvent::Tool(tool_call("files", "write", lines(21))));
    assert!(chat.model.dialogs.asks()[0].rows_left > 0);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn an_edit_that_was_not_in_view_whole_is_shown_before_it_runs() {
    let mut chat = of_tool((80, 24), "", &lines(40));
    read_through(&mut chat);
    chat.wait(1_000).keys("e<Ctrl+Home>");
    let Form::Arguments { editor, .. } = &mut chat.model.dialogs.asks_mut()[0].form else {
        panic!("a field is open");
    };
    let text = editor.text().replace("<3>", "<three>");
    editor.set(&text);
    chat.keys("<Enter>").fits();
    assert_eq!(chat.commands(), []);
    assert!(
        chat.model.dialogs.asks()[0].rows_left > 0,
        "the edit was not drawn yet"
    );
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
    let decided = chat.decided();
    let [Decision::Edit { arguments }] = &decided[..] else {
        panic!("{decided:?}");
    };
    assert_eq!(arguments["lines"][3], "<three>");
}

#[test]
fn an_edit_that_is_in_view_whole_runs_at_once() {
    let mut chat = of_tool((80, 24), "", &json!({ "a": 1 }));
    chat.keys("e<Up><End>2<Enter>").fits();
    assert!(matches!(&chat.decided()[..], [Decision::Edit { .. }]));
    // Trailing spaces of a row are not drawn in the field.
    let hidden = json!({ "a": format!("x{}rm -rf /", " ".repeat(90)) });
    let mut chat = of_tool((80, 24), "", &hidden);
    chat.keys("e<Enter>").fits();
    assert_eq!(chat.commands(), []);
}

#[test]
fn all_listed_run_only_once_each_was_drawn_whole() {
    let mut chat = chat();
    chat.keys("go<Enter>").asks(&[1, 2]);
    chat.turn(TurnEvent::Tool(tool_call("sums", "add", lines(12))));
    chat.wait(600).keys("<Right>").wait(1_000).keys("0");
    assert_eq!(chat.commands().len(), 1, "only the prompt was sent");
    assert_eq!(chat.model.dialogs.asks()[0].at, 0, "shows the unread call");
    read_through(&mut chat);
    chat.wait(1_000).keys("0");
    assert_eq!(chat.decided(), [Decision::Run, Decision::Run]);
}

#[test]
fn very_long_arguments_run_unread_after_a_word() {
    let mut chat = of_tool((80, 24), "", &lines(2_000));
    assert!(chat.model.dialogs.asks()[0].rows_left > 1_900);
    let screen = chat.screen();
    assert!(screen.contains("r  Run it unread"), "{screen}");
    chat.keys("rno<Enter>");
    assert_eq!(chat.commands(), []);
    chat.keys("<Esc>r").wait(1_000).keys("run<Enter>");
    assert!(is_run(&mut chat));
    let running = ToolCall {
        state: ToolState::Running { progress: None },
        ..tool_call("files", "write", lines(2_000))
    };
    chat.turn(TurnEvent::Tool(running));
    let screen = chat.screen();
    assert!(screen.contains("1,99"), "{screen}");
    assert!(screen.contains(" rows not read"), "{screen}");
}

#[test]
fn five_hundred_rows_are_to_be_read() {
    let mut chat = of_tool((80, 24), "", &lines(400));
    let screen = chat.keys("r").screen();
    assert!(!screen.contains("unread"), "{screen}");
    assert!(matches!(chat.model.dialogs.asks()[0].form, Form::Choosing));
}

#[test]
fn a_megabyte_in_one_argument_is_laid_out_once_and_can_be_read_in_part() {
    let mut chat = of_tool((200, 60), "", &json!({ "a": "x".repeat(1 << 20) }));
    let rows = chat.model.dialogs.asks()[0].body().as_ptr();
    for _ in 0..50 {
        chat.keys("<PgDn>");
    }
    assert_eq!(chat.model.dialogs.asks()[0].body().as_ptr(), rows);
    assert!(chat.model.dialogs.asks()[0].rows_left > 500);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.commands(), []);
}

#[test]
fn a_dialog_that_was_not_drawn_for_half_a_second_answers_to_no_key() {
    // The program stalled between the question and its first frame.
    let mut chat = chat();
    chat.keys("go<Enter>").asks(&[1]).wait(600);
    let mut late = crate::tui::update::tests::granting::chat();
    late.keys("go<Enter>").asks(&[1]);
    late.model.dialogs.asks_mut()[0].is_seen = false;
    late.sent.clear();
    late.model.now += Duration::from_millis(600);
    let now = late.model.now;
    update(&mut late.model, Msg::new(now, Input::Tick));
    late.keys("y");
    assert_eq!((late.commands().len(), late.message().as_str()), (0, "y"));
    // The dialog was drawn, then the program stalled: this key was typed before the user
    // could read it.
    let mut stalled = crate::tui::update::tests::granting::chat();
    stalled.keys("go<Enter>").asks(&[1]);
    stalled.sent.clear();
    stalled.model.now += Duration::from_millis(600);
    stalled.input(Input::Key(key(KeyCode::Char('y'), KeyModifiers::NONE)));
    assert_eq!(stalled.commands(), []);
    chat.sent.clear();
    chat.keys("y");
    assert!(is_run(&mut chat));
}
