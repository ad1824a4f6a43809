//! Snapshots of the chat screens at the sizes where the layout changes, and a crash test
//! over all small sizes.

use super::{at_five_sizes, at_two_sizes};
use crate::support::screen_harness;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::domain::tool::{ToolProgress, ToolState};
use humble::domain::{
    Advice, AskId, Banner, BannerCause, CallId, Notice, PieceKind, QueryId, SessionSummary, TurnEnd,
};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use humble::tui::{TuiOptions, UiInput, UiModel};
use jiff::civil::date;
use jiff::tz::TimeZone;
use std::sync::Arc;

use screen_harness::{ScreenHarness, screen_harness, tool};

macro_rules! screens {
    ($name:ident, $script:expr) => {
        screens!(at_two_sizes, $name, $script);
    };
    ($sizes:ident, $name:ident, $script:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!($sizes($script));
        }
    };
}

screens!(an_empty_start, |story| {
    story.screen();
});

screens!(waiting_for_the_model, |story| {
    story.prompt("Hello").advance_clock(1_500);
});

screens!(at_five_sizes, an_answer_streams, |story| {
    story.answered_turn().types("다음 질문");
});

screens!(a_complete_answer, |story| {
    story.answered_turn().end_turn(TurnEnd::Answered {
        text: String::new(),
        is_truncated: false,
    });
});

screens!(a_call_unfolded, |story| {
    story.answered_turn().screen();
    story.key(KeyCode::Tab).key(KeyCode::Up);
    story.key(KeyCode::Up).key(KeyCode::Enter);
});

screens!(a_long_prompt_folded, |story| {
    let log: Vec<String> = (1..=5_000).map(|line| format!("log line {line}")).collect();
    story.input(UiInput::Paste(log.join("\n")));
    story.prompt("");
    story.stream_delta(1, PieceKind::Text, "Nothing unusual.");
    story.end_turn(TurnEnd::Answered {
        text: String::new(),
        is_truncated: false,
    });
});

screens!(an_answer_selected, |story| {
    story.answered_turn().screen();
    story.key(KeyCode::Tab).key(KeyCode::Up);
});

screens!(find_in_the_chat, |story| {
    story.answered_turn().screen();
    for c in "/find sum".chars() {
        story.key(KeyCode::Char(c));
    }
    story.key(KeyCode::Enter).key(KeyCode::Char('n'));
});

screens!(a_call_runs, |story| {
    story
        .prompt("What is 17 + 25?")
        .show_call(ToolState::Running { progress: None });
    story.advance_clock(3_200).show_call(ToolState::Running {
        progress: Some(ToolProgress {
            done: 6.0,
            total: Some(10.0),
            message: Some("adding".into()),
        }),
    });
});

fn approving(story: &mut ScreenHarness) {
    story
        .prompt("What is 17 + 25?")
        .show_call(ToolState::AwaitingApproval);
    let tool = Arc::new(tool("get-sum", "Adds two numbers."));
    let calls = [1, 1].map(|call| CallToApprove {
        call: CallId(call),
        tool: tool.clone(),
    });
    story.event(Event::Asked {
        ask: AskId(1),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
        question: questions::approve(calls.to_vec()),
    });
}

screens!(at_five_sizes, an_approval, |story| {
    approving(story);
    story.advance_clock(600);
});

screens!(an_approval_not_yet_ready, |story| {
    approving(story);
    story.types("typing on");
});

screens!(arguments_are_edited, |story| {
    approving(story);
    story
        .advance_clock(600)
        .key(KeyCode::Char('e'))
        .key(KeyCode::Char('0'))
        .types("x")
        .key(KeyCode::Enter);
});

screens!(a_silent_model, |story| {
    story.prompt("Hello");
    story.event(Event::Asked {
        ask: AskId(1),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
        question: questions::stalled(120),
    });
    story.advance_clock(600);
});

screens!(a_failure, |story| {
    story.answered_turn();
    let notice = Notice::failure(
        "The connection to http://localhost:11434 was cut in the middle of the answer.",
    )
    .with_advice("The text so far is kept.")
    .with_advice(Advice::Retry);
    story.end_turn(TurnEnd::Failed { notice });
});

screens!(banners_and_a_queue, |story| {
    story
        .prompt("One")
        .types("Two, while one runs")
        .key(KeyCode::Enter);
    let notice = Notice::warning("mcp-servers.json line 7, column 3: expected `,` or `}`.")
        .with_advice("Servers stay as they were; the file is left alone.");
    story.event(Event::BannersChanged(vec![Banner::new(
        BannerCause::UnreadableFile("mcp-servers.json".to_owned()),
        notice,
    )]));
});

screens!(scrolled_up, |story| {
    for turn in 0..4 {
        story
            .prompt("List")
            .stream_delta(turn, PieceKind::Text, &"one line of many\n".repeat(12));
        story.end_turn(TurnEnd::Answered {
            text: String::new(),
            is_truncated: false,
        });
    }
    story.key(KeyCode::PageUp);
});

screens!(at_five_sizes, earlier_conversations, |story| {
    story.key(KeyCode::F(4));
    // Noon in the local time zone, because the list shows local time.
    let noon = |day| {
        let time = date(2026, 11, day).at(12, 0, 0, 0);
        let zoned = time.to_zoned(TimeZone::system()).expect("a time");
        zoned.timestamp()
    };
    let summary = |id: &str, title: &str, broken: Option<&str>| SessionSummary {
        id: id.into(),
        title: title.into(),
        model: "qwen3:4b".into(),
        started_at: None,
        changed_at: noon(18),
        message_count: 12,
        open_error: broken.map(str::to_owned),
    };
    let sessions = vec![
        summary("a.json", "대화 제목 이다", None),
        summary("b.json", "서울 날씨와 옷차림", None),
        summary("c.json", "", Some("line 3: expected `,`")),
    ];
    story.event(Event::SessionsListed {
        query: QueryId(1),
        listed_at: noon(20),
        sessions: Arc::new(sessions),
    });
});

screens!(the_palette, |story| {
    story.input(UiInput::Key(KeyEvent::new(
        KeyCode::Char('p'),
        KeyModifiers::CONTROL,
    )));
    story.types("mod");
});

screens!(the_help, |story| {
    story.key(KeyCode::F(1));
});

screens!(the_models, |story| {
    story.types("/set-model").key(KeyCode::Enter);
});

screens!(a_command_is_typed, |story| {
    story.types("/se");
});

screens!(the_servers, |story| {
    story
        .key(KeyCode::F(2))
        .key(KeyCode::Down)
        .key(KeyCode::Enter);
});

#[test]
fn no_screen_size_crashes_the_program() {
    let stories: [fn(&mut ScreenHarness); 6] = [
        |story| {
            story.answered_turn();
        },
        |story| {
            approving(story);
            story.advance_clock(600);
        },
        |story| {
            story.key(KeyCode::F(1));
        },
        |story| {
            story.key(KeyCode::F(4));
        },
        |story| {
            story.types("/s");
        },
        |story| {
            story.types("/set-model").key(KeyCode::Enter);
        },
    ];
    for script in stories {
        let mut story = screen_harness((80, 24));
        script(&mut story);
        for width in (0..24).chain([39, 40, 59, 60, 61, 99, 100, 101, 300]) {
            for height in (0..14).chain([24, 100]) {
                story.input(UiInput::Resize { width, height });
                story.screen();
                story.key(KeyCode::PageUp);
            }
        }
    }
}

#[test]
fn a_resize_keeps_the_reading_position() {
    let mut story = screen_harness((80, 24));
    let text: Vec<_> = (0..200)
        .map(|n| format!("line {n} {}", "word ".repeat(30)))
        .collect();
    story
        .prompt("Count")
        .stream_delta(1, PieceKind::Text, &text.join("\n"));
    story.screen();
    for _ in 0..10 {
        story.key(KeyCode::PageUp);
    }
    let first_line_number = |screen: String| {
        let found = screen.lines().find_map(|row| row.split_once("line "));
        let number = found.map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned());
        number
            .expect("a numbered line is visible")
            .parse::<i32>()
            .expect("a number")
    };
    let before = first_line_number(story.screen());
    story.input(UiInput::Resize {
        width: 50,
        height: 20,
    });
    let after = first_line_number(story.screen());
    assert!((before - after).abs() <= 1, "{before} and {after}");
}

screens!(a_guided_start, |story| {
    story.model = guided(story.model.screen.size);
});

fn guided(size: (u16, u16)) -> UiModel {
    let options = TuiOptions {
        tour_prompts: Some(humble::app::DEMO_PROMPTS),
        ..TuiOptions::default()
    };
    UiModel::new(&options, size)
}

#[test]
fn thinking_takes_half_of_a_narrow_screen_and_cuts_no_word() {
    let mut story = screen_harness((64, 20));
    story.answered_turn().key(KeyCode::F(3));
    let screen = story.screen();
    let right_half = |row: &str| {
        row.split_once('│')
            .map(|(_, right)| right.trim().to_owned())
    };
    let right: Vec<String> = screen.lines().filter_map(right_half).collect();
    assert!(
        right
            .join(" ")
            .contains("The user wants a sum. I have get-sum."),
        "{screen}"
    );
}
