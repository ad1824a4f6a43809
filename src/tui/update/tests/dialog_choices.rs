//! The choices of every dialog: short labels in one row, and the scope of each.

use crate::domain::SettingsChange;
use crate::questions;
use crate::questions::UnfinishedTurn;
use crate::tui::update::tests::*;

fn settings() -> Question {
    let text = |text: &str| Some(text.to_owned());
    let (old, new) = (text("npx"), text("npm"));
    let change = SettingsChange::needs_consent("mcp-servers.json", "`command`", old, new);
    questions::external_edit(&[change])
}

fn failed() -> Question {
    questions::after_error(None, &["list".to_owned()])
}

fn chat_with_question(question: Question) -> ChatHarness {
    let mut chat = chat();
    chat.keys("go<Enter>").ask_question(question).wait(600);
    chat.sent.clear();
    chat
}

fn answer(chat: &mut ChatHarness) -> Option<UserAnswer> {
    match chat.commands().pop() {
        Some(Command::Answer { answer, .. }) => Some(answer),
        _ => None,
    }
}

/// Questions outside of turns, with their rows of choices.
fn program_questions() -> Vec<(Question, &'static str)> {
    let instructions = questions::instructions(&"docs".into(), "Be brief.");
    let replace = questions::replace_prompt("/h/system_prompt.txt", "old");
    let unfinished = questions::unfinished(&UnfinishedTurn {
        prompt: "Tidy up".to_owned(),
        ..UnfinishedTurn::default()
    });
    let discard = questions::discard("Tidy up");
    vec![
        (
            questions::pin_changed(&trust::changed_tool(0)),
            "Accept the change?   y accept  n keep withheld  9 never  ?",
        ),
        (
            settings(),
            "Apply the changes?   y apply  n do not use them now  ?",
        ),
        (
            unfinished,
            "Restore the prompt?   y restore  n not now  x discard…  ?",
        ),
        (discard, "Discard it?   y discard  n keep  ?"),
        (
            instructions,
            "Send them to the model?   y send from now on  o until I quit  n do not send  ?",
        ),
        (replace, "Replace it?   y replace  n keep the file  ?"),
    ]
}

/// Questions of turns, with their rows of choices.
fn turn_questions() -> Vec<(Question, &'static str)> {
    let unusable = questions::unusable_call("{", "it ends too early");
    let rounds = questions::round_limit(10, false);
    let grow = questions::grow_context(9_000, 8_192, 16_384);
    vec![
        (failed(), "What now?   r run it again  g go on  n stop  ?"),
        (
            unusable,
            "What now?   m tell the model  t as text  n stop  ?",
        ),
        (
            questions::stalled(60),
            "Keep waiting?   y wait  r ask again  n stop  ?",
        ),
        (
            rounds,
            "Continue?   y as many again  b no limit  l answer now  n stop  ?",
        ),
        (
            grow,
            "Enlarge the context?   y enlarge  c send anyway  n stop  ?",
        ),
    ]
}

#[test]
fn every_dialog_has_its_choices_in_one_row() {
    for (question, row) in program_questions().into_iter().chain(turn_questions()) {
        let screen = chat_with_question(question).screen();
        assert!(screen.contains(row), "{row}\n{screen}");
    }
}

#[test]
fn every_choice_also_has_a_digit_and_alternative_keys() {
    for (question, keys, choice) in [
        (settings(), ["y", "1", "f", "ㅛ"], UserChoice::ApplyChanges),
        (settings(), ["n", "2", "N", "ㅜ"], UserChoice::Stop),
        (failed(), ["r", "1", "R", "ㄱ"], UserChoice::Retry),
        (
            questions::stalled(60),
            ["y", "1", "w", "ㅈ"],
            UserChoice::KeepWaiting,
        ),
        (
            questions::pin_changed(&trust::changed_tool(0)),
            ["9", "3", "9", "3"],
            UserChoice::Never,
        ),
    ] {
        for key in keys {
            let mut chat = chat_with_question(question.clone());
            chat.keys(key);
            assert_eq!(answer(&mut chat), Some(UserAnswer::Choice(choice)), "{key}");
        }
    }
    // The letter `a` shows a page in an approval, so it answers no other question.
    let mut chat = chat_with_question(questions::pin_changed(&trust::changed_tool(0)));
    chat.keys("a");
    assert_eq!(answer(&mut chat), None);
    assert_eq!(chat.notice(), "Answer the question first: y n 9 ?.");
}

#[test]
fn question_mark_opens_a_page_that_explains_the_choices() {
    let mut chat = chat_with_question(settings());
    let screen = chat.keys("?").screen();
    for label in [
        "1  y  Apply the changes",
        "2  n  Do not use them; the files are not touched",
    ] {
        assert!(screen.contains(label), "{label}\n{screen}");
    }
    chat.keys("<Esc>");
    assert_eq!(answer(&mut chat), None);
    assert!(chat.screen().contains("+ npm"));
}

#[test]
fn without_unicode_no_choice_has_an_ellipsis() {
    let ascii = TuiOptions {
        ascii: true,
        ..TuiOptions::default()
    };
    for (columns, rows) in [(80, 24), (20, 6)] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.model.screen = crate::tui::screen::ScreenState::new(&ascii, (columns, rows));
        for keys in ["", "a", "<Esc>?"] {
            let screen = chat.keys(keys).screen();
            assert!(!screen.contains('…'), "{screen}");
        }
        assert!(columns < 80 || chat.keys("<Esc>").screen().contains("d deny..."));
    }
}

#[test]
fn the_page_of_lasting_choices_shows_the_scope_of_each() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let tools = ["add", "sub", "old"].map(fixtures::tool);
    let mut server = fixtures::server("sums", tools.to_vec());
    server.disabled_tools = ["old".to_owned()].into();
    chat.engine_event(Event::ServersListed(vec![server]));
    chat.wait(600).keys("a");
    let rows: Vec<String> = chat.dialog_rows();
    let rows: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
    assert_eq!(
        rows,
        [
            "add on sums, until you revoke it with /trust:",
            "",
            "6     Always run this tool",
            "Any arguments, while the tool's definition and the server's command or",
            "address stay the same.",
            "7     Always run the tools of this server",
            "Both tools it offers now, with any arguments. Tools added or changed",
            "later are not included.",
            "8     Always run calls like this one…",
            "This tool, only while the arguments match a pattern that you edit first.",
            "9     Never run this tool",
            "Neither run nor asked about again, even if its definition changes.",
        ]
    );
    // The heading and the scopes count as body rows.
    chat.keys("<Down><Down>");
    let dialog = &chat.model.dialogs.queued()[0];
    assert_eq!(dialog.selected_body_row(), Some(5));
    chat.wait(600).keys("<Enter>");
    assert_eq!(chat.decisions(), [Decision::RunWholeServer]);
}

#[test]
fn every_wrapped_row_of_an_introduction_counts_as_heading() {
    let mut chat = chat_with_question(settings());
    for (columns, rows) in [(80, 2), (50, 3)] {
        chat.size(columns, 24).screen();
        let dialog = &chat.model.dialogs.queued()[0];
        assert_eq!(dialog.heading_rows(), rows);
        let next = dialog.body_rows()[rows].text();
        assert_eq!(next.trim(), "");
    }
}

#[test]
fn choices_of_a_dialog_keep_their_places() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    let row = |chat: &mut ChatHarness| {
        let screen = chat.size(120, 24).screen();
        let row = screen.lines().find(|row| row.contains("Call now?"));
        row.expect("a row").trim().to_owned()
    };
    let first = row(&mut chat);
    let first = first.trim_end_matches("  ?");
    chat.keys("<Right>").wait(600);
    chat.keys("<Left>").wait(600);
    assert_eq!(row(&mut chat), format!("{first}  0 both  ?"));
    chat.keys("y").wait(600).keys("<Left>").wait(600);
    assert_eq!(row(&mut chat), format!("{first}  0 the rest  ?"));
}

#[test]
fn calls_in_an_untaught_or_repaired_form_are_marked_as_recovered() {
    for (is_taught, repaired, note) in [
        (true, false, ""),
        (false, false, "recovered from text (JSON)"),
        (true, true, "recovered from text, repaired (JSON)"),
    ] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        let call = chat.model.chat.transcript.call(CallId(1)).cloned();
        let origin = CallOrigin::Text {
            form: "JSON",
            repaired,
            is_taught,
        };
        chat.turn_event(TurnEvent::Tool(ToolCall {
            origin,
            ..call.expect("a call")
        }));
        let screen = chat.screen();
        assert_eq!(screen.contains("recovered"), !note.is_empty(), "{screen}");
        assert!(screen.contains(note), "{screen}");
        assert!(screen.contains("t as text"), "{screen}");
    }
}

#[test]
fn undo_is_refused_while_a_question_about_an_unfinished_turn_is_open() {
    let unfinished = questions::unfinished(&UnfinishedTurn::default());
    let discard = questions::discard("Tidy up");
    for question in [unfinished, discard] {
        let mut chat = chat();
        chat.keys("one<Enter>").model_answers("1");
        chat.ask_question(question).keys("/undo<Enter>");
        let commands = chat.commands();
        assert!(!commands.contains(&Command::Rewind), "{commands:?}");
        let notice = chat.notice();
        assert!(notice.contains("unfinished turn"), "{notice}");
        chat.engine_event(Event::AskClosed(AskId(7)));
        chat.keys("/undo<Enter>");
        let commands = chat.commands();
        assert!(commands.contains(&Command::Rewind), "{commands:?}");
    }
}

/// A chat that asks about a call to `add`, whose server also has a read-only tool and `write`. The
/// parameters say whether `add` and `write` are read-only.
fn with_read_only_tools(called_is_read_only: bool, others_are_read_only: bool) -> ChatHarness {
    let tool = |name: &str, read_only: bool| {
        fixtures::tool_from(&json!({
            "name": name, "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": read_only },
        }))
    };
    let called = tool("add", called_is_read_only);
    let tools = vec![
        called.clone(),
        tool("look, then run", true),
        tool("write", others_are_read_only),
    ];
    let mut chat = chat();
    chat.keys("sum<Enter>");
    let call = fixtures::tool_call("sums", "add", json!({ "a": 1 }));
    let asked = CallToApprove {
        call: call.id,
        tool: Arc::new(called),
    };
    chat.turn_event(TurnEvent::Tool(call));
    chat.engine_event(Event::ServersListed(vec![fixtures::server("sums", tools)]));
    chat.ask_question(questions::approve(vec![asked])).wait(600);
    chat.sent.clear();
    chat
}

#[test]
fn read_only_tools_are_listed_before_they_are_granted() {
    let mut chat = with_read_only_tools(true, false);
    chat.keys("v");
    let screen = chat.screen();
    for part in [
        "v  Always run only the tools that it marks as read-only",
        "(2 of 3)",
        "add, \"look, then run\", with any arguments",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    assert_eq!(chat.commands(), [], "the first press only lists them");
    chat.wait(600).keys("v");
    let decisions = chat.decisions();
    let [Decision::RunReadOnly { tools }] = decisions.as_slice() else {
        panic!("{decisions:?}");
    };
    let names: Vec<&str> = tools.keys().map(String::as_str).collect();
    assert_eq!(names, ["add", "look, then run"]);
    let notice = "The 2 tools that sums marks as read-only run without asking from now on";
    assert!(chat.notice().starts_with(notice), "{}", chat.notice());
}

#[test]
fn the_read_only_choice_needs_a_read_only_call_and_another_tool_that_is_not() {
    for (called, others) in [(false, false), (true, true)] {
        let mut chat = with_read_only_tools(called, others);
        let screen = chat.keys("a").screen();
        assert!(
            !screen.contains("marks as read-only"),
            "{called} {others}\n{screen}"
        );
        chat.keys("<Esc>v");
        assert_eq!(chat.commands(), []);
    }
}

#[test]
fn on_a_small_screen_all_read_only_tools_are_scrolled_through_first() {
    let mut chat = with_read_only_tools(true, false);
    chat.size(60, 14).screen();
    chat.wait(600).keys("v").screen();
    let mut presses = 0;
    while chat.commands().is_empty() {
        assert!(presses < 10, "{}", chat.screen());
        chat.wait(600).keys("v").screen();
        presses += 1;
    }
    assert!(presses > 1, "the list did not fit on one page");
}
