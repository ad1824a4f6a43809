//! Snapshots of the browser for saved conversations: a search with marked matches, and the
//! questions that replace a row.

use super::at_two_sizes;
use crate::support::screen_harness::ScreenHarness;
use crossterm::event::KeyCode;
use humble::domain::{
    IndexProgress, QueryId, SavedMessage, SessionId, SessionPreview, SessionSummary,
};
use humble::protocol::{Event, SavedSessionEvent};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use std::sync::Arc;

macro_rules! screens {
    ($name:ident, $script:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(at_two_sizes($script));
        }
    };
}

/// A time on this day in the local time zone, because the list shows local time.
fn local(year: i16, month: i8, day: i8) -> Timestamp {
    let time = date(year, month, day).at(9, 12, 0, 0);
    let zoned = time.to_zoned(TimeZone::system()).expect("a time");
    zoned.timestamp()
}

fn summary(
    id: &str,
    title: &str,
    model: &str,
    changed_at: Timestamp,
    count: usize,
) -> SessionSummary {
    SessionSummary {
        id: id.into(),
        title: title.into(),
        model: model.into(),
        started_at: None,
        changed_at,
        message_count: count,
        open_error: None,
    }
}

fn open(story: &mut ScreenHarness) {
    story.key(KeyCode::F(4));
    let sessions = vec![
        summary("a", "대화 제목 이다", "qwen3:4b", local(2026, 11, 20), 4),
        summary("b", "서울 날씨와 옷차림", "gpt-4o", local(2026, 11, 18), 12),
        summary("c", "Trip to Busan", "qwen3:4b", local(2026, 3, 2), 8),
        summary(
            "d",
            "An old one",
            "a-model-with-a-long-name:70b",
            local(2024, 11, 20),
            1_204,
        ),
    ];
    story.event(Event::SessionsListed {
        query: QueryId(1),
        listed_at: local(2026, 11, 20),
        sessions: Arc::new(sessions),
    });
}

/// Searches for 날씨, which is in the title of the second session and in the text of the third.
fn search(story: &mut ScreenHarness) {
    open(story);
    story.types("날씨");
    // The ids of the searches and previews depend on the steps before, so all of them are answered.
    for query in 2..=8 {
        story.event(Event::SavedSession(SavedSessionEvent::Found {
            query: QueryId(query),
            sessions: Arc::new([SessionId::new("c")].into()),
            terms: vec!["날씨".to_owned()],
        }));
    }
    let answer = "Mostly clear in **Busan**.\n\n| day | 날씨 |\n|---|---|\n| Mon | 맑음 |\n\n```\nlet 날씨 = 1;\n```\n\
                  - 부산 날씨는 좋다";
    for query in 2..=8 {
        let preview = SessionPreview {
            session: "b".into(),
            messages: vec![
                SavedMessage::user("서울 날씨 알려줘"),
                SavedMessage::assistant(answer),
            ],
            skipped: 0,
        };
        story.event(Event::SessionPreviewed {
            query: QueryId(query),
            preview: Arc::new(preview),
        });
    }
}

screens!(a_search_marks_its_matches, search);

screens!(a_session_is_renamed, |story| {
    open(story);
    story.key(KeyCode::Down);
    story.key(KeyCode::Tab);
    story.types("r");
});

screens!(a_session_is_exported, |story| {
    open(story);
    story.key(KeyCode::Down);
    story.key(KeyCode::Tab);
    story.types("e");
});

screens!(sessions_are_being_indexed, |story| {
    open(story);
    story.event(Event::SavedSession(SavedSessionEvent::Indexed(
        IndexProgress {
            indexed: 3_200,
            total: 10_000,
            ..IndexProgress::default()
        },
    )));
    story.types("zzz");
});

screens!(a_filter_is_invalid, |story| {
    open(story);
    story.types("after:soon");
});
