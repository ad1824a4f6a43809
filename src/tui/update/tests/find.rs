//! Find in the chat: matches, moving, folded parts, going back, and its cost.

use super::*;
use std::time::Instant;

/// Submits `prompt` and streams `answer` to completion.
fn answer(chat: &mut ChatHarness, prompt: &str, answer: &str) {
    let piece = PieceId(chat.model.chat.transcript.entries().len() as u64 + 100);
    chat.keys(prompt).keys("<Enter>");
    chat.turn_event(TurnEvent::Delta {
        piece,
        kind: PieceKind::Text,
        text: answer.into(),
    });
    let end = TurnEnd::Answered {
        text: answer.into(),
        is_truncated: false,
    };
    chat.turn_ends(end).wait(2_000);
}

fn with_answers() -> ChatHarness {
    let mut chat = chat();
    let filler: Vec<String> = (0..60).map(|line| format!("filler {line}")).collect();
    let filler = filler.join("\n");
    answer(
        &mut chat,
        "one",
        &format!("The **first** apple.\n\n{filler}"),
    );
    answer(
        &mut chat,
        "two",
        &format!("An Apple and an apple.\n\n{filler}\n\n서울의 사과"),
    );
    chat.sent.clear();
    chat
}

impl ChatHarness {
    fn search_ends(&mut self) -> &mut Self {
        for _ in 0..10_000 {
            let find = self.model.chat.find.as_ref().expect("an open find");
            if !find.is_searching(&self.model.chat.transcript) {
                return self;
            }
            self.input(UiInput::Tick);
        }
        panic!("the search does not end");
    }

    fn find_line(&mut self) -> String {
        let screen = self.screen();
        let line = screen.lines().find(|line| line.starts_with(" Find "));
        let words: Vec<&str> = line.expect("the field").split_whitespace().collect();
        words.join(" ")
    }
}

#[test]
fn typing_searches_and_keys_move_among_the_matches() {
    let mut chat = with_answers();
    chat.keys("<Ctrl+f>apple").search_ends();
    assert_eq!(
        chat.find_line(),
        "Find apple 3 of 3",
        "the nearest one above"
    );
    assert!(
        chat.screen().contains("An Apple and an apple."),
        "{}",
        chat.screen()
    );
    chat.keys("<Up>");
    assert_eq!(chat.find_line(), "Find apple 2 of 3");
    chat.keys("<Up>");
    assert!(
        chat.screen().contains("The first apple."),
        "{}",
        chat.screen()
    );
    chat.keys("<Up>");
    assert_eq!(chat.find_line(), "Find apple 3 of 3", "wraps around");
    chat.keys("<Enter>");
    assert_eq!(chat.find_line(), "Find apple 1 of 3");
    chat.keys("n");
    assert_eq!(chat.find_line(), "Find apple 2 of 3");
    chat.keys("N<Enter><Enter>");
    assert_eq!(chat.find_line(), "Find apple 3 of 3");
    assert_eq!(chat.message(), "");
}

#[test]
fn search_uses_smart_case_and_ignores_emphasis_and_composition() {
    let mut chat = with_answers();
    chat.keys("<Ctrl+f>Apple").search_ends();
    assert_eq!(chat.find_line(), "Find Apple 1 of 1");
    chat.keys("<Ctrl+u>first apple").search_ends();
    assert_eq!(
        chat.find_line(),
        "Find first apple 1 of 1",
        "across emphasis"
    );
    chat.keys("<Ctrl+u>nowhere").search_ends();
    assert_eq!(chat.find_line(), "Find nowhere no match");
    let decomposed = "\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}";
    chat.keys("<Ctrl+u>")
        .input(UiInput::Paste(decomposed.into()))
        .search_ends();
    assert!(chat.find_line().ends_with("1 of 1"), "{}", chat.find_line());
}

#[test]
fn the_text_of_the_last_search_is_replaced_by_typing() {
    let mut chat = with_answers();
    chat.keys("<Ctrl+f>apple").search_ends().keys("<Enter>");
    chat.keys("<Ctrl+f>");
    assert_eq!(chat.find_line(), "Find apple 1 of 3", "kept until then");
    chat.keys("사과").search_ends();
    let field = &chat.model.chat.find.as_ref().expect("open").field;
    assert_eq!(field.text(), "사과");
}

#[test]
fn esc_in_the_find_bar_returns_to_the_previous_position() {
    let mut chat = with_answers();
    chat.keys("<PgUp><PgUp>");
    let before = chat.screen();
    chat.keys("<Ctrl+f>first").search_ends();
    assert!(chat.screen().contains("The first apple."));
    chat.keys("<Esc>");
    assert_eq!(chat.screen(), before);
    assert_eq!(chat.model.panes.focus, Focus::Message);
    chat.keys("<Ctrl+f>first").search_ends();
    chat.keys("<Enter><Ctrl+f><Esc>");
    assert_eq!(
        chat.screen(),
        before,
        "Esc in the field returns even after Enter"
    );
    chat.keys("<Ctrl+End><Ctrl+f>first")
        .search_ends()
        .keys("<Esc>");
    assert!(chat.model.chat.viewport.follows_end);
}

#[test]
fn the_block_with_the_match_is_selected_and_esc_stays_there() {
    let mut chat = chat();
    let text = "Intro.\n\n```rust\nlet pear = 1;\n```\n\nMiddle.\n\n```rust\nlet fig = 2;\n```";
    answer(&mut chat, "one", text);
    answer(&mut chat, "two", "The end.");
    chat.keys("<Ctrl+f>fig").search_ends().keys("<Enter>");
    let stop = chat
        .model
        .chat
        .viewport
        .stop
        .expect("the match is selected");
    assert_eq!(stop.block, Some(1), "the block with the match");
    let screen = chat.screen();
    let footer = screen.lines().last().expect("a footer").to_owned();
    for hint in [
        "next, previous",
        "Esc stay here",
        "y copy the code",
        "v lines",
    ] {
        assert!(footer.contains(hint), "{footer}");
    }
    chat.keys("<Esc>");
    assert!(chat.model.chat.find.is_none());
    assert_eq!(chat.model.chat.viewport.stop, Some(stop));
    assert_eq!(chat.model.panes.focus, Focus::Chat);
    chat.keys("<Up>");
    let above = chat.model.chat.viewport.stop.expect("a stop");
    assert_eq!((above.index, above.block), (stop.index, Some(0)));
    chat.keys("<Ctrl+f>fig").search_ends().keys("<Tab>y");
    assert_eq!(chat.copied().as_deref(), Some("let fig = 2;"));
}

#[test]
fn a_letter_after_the_search_closes_the_find_bar_in_place() {
    let mut chat = with_answers();
    chat.keys("<Ctrl+f>first").search_ends();
    chat.keys("<Enter>x");
    assert_eq!(chat.message(), "x");
    assert!(chat.model.chat.find.is_none());
    assert!(chat.screen().contains("The first apple."));
}

#[test]
fn results_of_calls_are_searched_and_unfolded() {
    let mut chat = chat();
    chat.keys("sum<Enter>");
    let hidden = format!("{}\nneedle-in-the-rest", "filler\n".repeat(100));
    for (id, text) in [(1, "a needle-in-a-result"), (2, hidden.as_str())] {
        let outcome = crate::domain::ToolOutcome::Succeeded {
            text: text.into(),
            elapsed: Duration::ZERO,
        };
        chat.turn_event(TurnEvent::Tool(ToolCall {
            id: CallId(id),
            state: ToolState::Done(outcome),
            ..fixtures::tool_call("sums", "add", json!({"a": 1}))
        }));
    }
    chat.model_answers("Done.").wait(2_000);
    chat.keys("<Ctrl+f>needle-in-a").search_ends();
    assert_eq!(chat.find_line(), "Find needle-in-a 1 of 1");
    assert!(
        chat.screen().contains("a needle-in-a-result"),
        "{}",
        chat.screen()
    );
    chat.keys("<Ctrl+u>in-the-rest").search_ends();
    let screen = chat.screen();
    assert!(screen.contains("more in the full call"), "{screen}");
    chat.keys("<Ctrl+u>sums").search_ends();
    assert_eq!(chat.find_line(), "Find sums 1 of 2", "the line of a call");
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(!screen.contains("arguments"), "folded again: {screen}");
}

#[test]
fn thinking_is_found_in_its_own_pane() {
    let mut chat = chat();
    chat.size(120, 30).keys("one<Enter>");
    let delta = |piece, kind, text: &str| TurnEvent::Delta {
        piece: PieceId(piece),
        kind,
        text: text.into(),
    };
    chat.turn_event(delta(1, PieceKind::Thinking, "a secret thought"));
    chat.turn_event(delta(2, PieceKind::Text, "An answer."));
    chat.keys("<Ctrl+f>secret").search_ends();
    let find = chat.model.chat.find.as_ref().expect("open");
    assert!(find.current_in(Focus::Thinking).is_some());
    assert_eq!(chat.find_line(), "Find secret 1 of 1");
}

#[test]
fn text_that_streams_in_is_searched_too() {
    let mut chat = with_answers();
    chat.keys("three<Enter>").model_says("Some pears");
    chat.keys("<Ctrl+f>pears").search_ends();
    assert_eq!(chat.find_line(), "Find pears 1 of 1");
    chat.model_says(" and more pears.\n\n- pe").search_ends();
    assert_eq!(chat.find_line(), "Find pears 1 of 2");
    chat.model_says("ars\n").search_ends();
    assert_eq!(chat.find_line(), "Find pears 1 of 3");
}

#[test]
fn matches_are_marked_without_color() {
    let mut chat = with_answers();
    chat.keys("<Ctrl+f>apple").search_ends();
    let (width, height) = chat.model.screen.size;
    let area = ratatui::layout::Rect::new(0, 0, width, height);
    let mut buffer = ratatui::buffer::Buffer::empty(area);
    crate::tui::view::paint(&mut chat.model, &mut buffer);
    let with = |modifier| -> String {
        let cells = buffer.content.iter();
        let marked = cells.filter(|cell| cell.modifier.contains(modifier));
        marked.map(ratatui::buffer::Cell::symbol).collect()
    };
    assert_eq!(with(ratatui::style::Modifier::REVERSED), "apple");
    assert_eq!(with(ratatui::style::Modifier::UNDERLINED), "Appleapple");
}

/// Each key only starts a search, whose steps have bounded work.
#[test]
fn a_key_in_a_transcript_of_10_mb_takes_little_time() {
    let mut chat = chat();
    let filler = "Other words that fill the paragraph. ".repeat(4);
    let paragraph = format!("{filler}Some **words** about 서울, `code`, a [link](http://a.b).\n\n");
    let long = paragraph.repeat(10_000_000 / 20 / paragraph.len());
    for _ in 0..20 {
        answer(&mut chat, "one", &long);
    }
    let mut slowest = Duration::ZERO;
    let mut steps = 0;
    for key in [
        "<Ctrl+f>", "c", "o", "d", "e", "<Down>", "<Up>", "<Enter>", "n", "N",
    ] {
        let start = Instant::now();
        chat.keys(key);
        // `keys` applies a tick and then the key.
        slowest = slowest.max(start.elapsed() / 2);
        chat.screen();
        while steps < 100_000 && key == "e" {
            let find = chat.model.chat.find.as_ref().expect("open");
            if !find.is_searching(&chat.model.chat.transcript) {
                break;
            }
            let start = Instant::now();
            chat.input(UiInput::Tick);
            slowest = slowest.max(start.elapsed());
            steps += 1;
        }
    }
    let count = 20 * (10_000_000 / 20 / paragraph.len());
    let line = chat.find_line();
    assert!(line.ends_with(&format!(" of {count}")), "{line}");
    // The test runs unoptimized and in parallel with others.
    println!("slowest step: {slowest:?} of {steps}");
    assert!(slowest < Duration::from_millis(400), "{slowest:?}");
}

#[test]
fn lines_of_note_agents_are_searched() {
    let mut chat = chat();
    chat.keys("find notes<Enter>");
    let result = crate::domain::notes::AgentResult::NotesFound {
        query: "routers".into(),
        notes: vec!["network.md".into()],
        remarks: vec!["old.md was left out: it is not text.".into()],
    };
    chat.turn_event(TurnEvent::AgentActed(result));
    chat.model_answers("Found it.").wait(2_000);
    chat.keys("<Ctrl+f>left out").search_ends();
    assert_eq!(chat.find_line(), "Find left out 1 of 1");
}
