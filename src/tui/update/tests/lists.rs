//! Every list and text that opens over the chat looks and behaves alike, at every size.

use crate::domain::session::SavedMessage;
use crate::domain::trust::{RuleScope, TrustRule};
use crate::domain::{
    LaunchConfig, PersonaSummary, SessionId, SessionPreview, SessionSummary, Think, TrustEntry,
};
use crate::text::grapheme::width;
use crate::tui::update::tests::*;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

const SIZES: [(u16, u16); 10] = [
    (1, 1),
    (2, 3),
    (9, 2),
    (20, 6),
    (24, 12),
    (40, 13),
    (60, 20),
    (80, 24),
    (120, 40),
    (200, 60),
];

/// Scripts that open a list with a filter.
pub(super) const LISTS: [&str; 10] = [
    "<Ctrl+p>",
    "<Ctrl+r>",
    "<F4>",
    "/models<Enter>",
    "/trust<Enter>",
    "/mcp<Enter>",
    "/think<Enter>",
    "/persona<Enter>",
    "/set-tool-mode<Enter>",
    "/toggle-mcp<Enter>",
];

/// Scripts that open a text or a form.
pub(super) const OTHERS: [&str; 7] = [
    "<F1>",
    "<F12>",
    "<F12><Tab>",
    "/models pull<Enter>",
    "/models<Enter><Tab>a",
    "/trust<Enter><Enter>",
    "/mcp<Enter><Enter>",
];

pub(super) fn summary(id: &str, title: &str) -> SessionSummary {
    SessionSummary {
        id: id.into(),
        title: title.to_owned(),
        model: "qwen3:4b".into(),
        started_at: None,
        changed_at: "2026-11-18T12:00:00Z".parse().expect("a time"),
        message_count: 12,
        open_error: None,
    }
}

pub(super) fn list_sessions(chat: &mut ChatHarness, query: u64, sessions: Vec<SessionSummary>) {
    chat.engine_event(Event::SessionsListed {
        query: QueryId(query),
        listed_at: "2026-11-20T12:00:00Z".parse().expect("a time"),
        sessions: Arc::new(sessions),
    });
}

/// A chat with something to list in each layer, with long and wide names.
fn chat_with_contents() -> ChatHarness {
    let mut chat = chat();
    chat.keys("날씨 알려줘<Enter>").model_answers("맑음");
    let tool = fixtures::described_tool("get_weather", "서울 날씨와 옷차림을 알려 준다.");
    let servers = vec![
        fixtures::server("weather", vec![tool]),
        fixtures::server("a-server-with-quite-a-long-name", Vec::new()),
    ];
    chat.engine_event(Event::ServersListed(servers));
    let personas = vec![PersonaSummary {
        name: "날씨".into(),
        description: "Answers questions about the weather and the time".into(),
        is_usable: true,
    }];
    chat.engine_event(Event::PersonasListed {
        personas: Arc::new(personas),
        selected: None,
    });
    let rule = |tool: &str| {
        TrustEntry::Rule(TrustRule {
            server: "weather".into(),
            launch: LaunchConfig::BuiltIn.identity(),
            decided_at: "2026-11-20T12:00:00Z".parse().expect("a time"),
            scope: RuleScope::Never {
                tool: tool.to_owned(),
                pin: fixtures::described_tool(tool, "").pin,
            },
        })
    };
    let rules = vec![rule("get_weather"), rule("날씨를_가져오기")];
    chat.engine_event(Event::TrustChanged(Arc::new(rules)));
    chat.commands();
    chat
}

pub(super) fn opened(script: &str) -> ChatHarness {
    let mut chat = chat_with_contents();
    chat.keys(script);
    assert!(chat.model.layer.is_some(), "{script}");
    let listed = vec![summary("a", "서울 날씨와 옷차림"), summary("b", "Busan")];
    let request = chat
        .commands()
        .into_iter()
        .find_map(|command| match command {
            Command::ListSessions(query) => Some(query),
            _ => None,
        });
    if let Some(query) = request {
        list_sessions(&mut chat, query.0, listed);
    }
    chat
}

fn painted(chat: &mut ChatHarness) -> Buffer {
    let (width, height) = chat.model.screen.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    crate::tui::view::paint(&mut chat.model, &mut buffer);
    buffer
}

fn mouse(chat: &mut ChatHarness, kind: MouseEventKind, column: usize, row: usize) {
    chat.input(UiInput::Mouse(MouseEvent {
        kind,
        column: column as u16,
        row: row as u16,
        modifiers: KeyModifiers::NONE,
    }));
}

fn row_of(chat: &mut ChatHarness, text: &str) -> usize {
    let screen = chat.screen();
    let row = screen.lines().position(|row| row.contains(text));
    row.unwrap_or_else(|| panic!("{text} in\n{screen}"))
}

#[test]
fn every_layer_draws_and_closes_at_every_size() {
    for script in LISTS.iter().chain(&OTHERS) {
        for (columns, rows) in SIZES {
            let mut chat = opened(script);
            chat.size(columns, rows);
            // After Tab, the keys act on the rows or on another tab.
            for key in ["", "<Down>", "<Tab>", "<PgDn>"] {
                let buffer = painted(chat.keys(key));
                for (at, cell) in buffer.content.iter().enumerate() {
                    let x = at % usize::from(columns);
                    let end = x + width(cell.symbol());
                    assert!(end <= columns.into(), "{script} at {columns}x{rows}");
                }
            }
            if columns >= 40 && rows >= 12 {
                assert!(
                    chat.screen().contains("Esc "),
                    "{script}\n{}",
                    chat.screen()
                );
            }
            chat.keys("<Esc><Esc><Esc>");
            assert!(chat.model.layer.is_none(), "{script} at {columns}x{rows}");
        }
    }
}

#[test]
fn every_list_has_a_title_a_filter_one_selection_mark_and_a_row_of_keys() {
    for script in LISTS {
        let mut chat = opened(script);
        let screen = chat.screen();
        let rows: Vec<&str> = screen.lines().collect();
        let title = rows.iter().position(|row| row.starts_with("── "));
        let title = title.unwrap_or_else(|| panic!("{screen}"));
        assert!(rows[title].trim_end().ends_with(" ─"), "{screen}");
        assert!(
            rows[title].contains(|c: char| c.is_ascii_digit()),
            "{screen}"
        );
        let filter = rows[title + 1].trim_end();
        assert!(
            filter == " ›" || filter.starts_with(" › words, "),
            "{screen}"
        );
        let marks = rows[title..].iter().filter(|row| row.starts_with(" ▌ "));
        assert_eq!(marks.count(), 1, "{screen}");
        let keys = rows.iter().rposition(|row| row.starts_with("──"));
        let keys = rows[keys.unwrap_or_else(|| panic!("{screen}"))];
        assert!(
            keys.contains(" Enter ") && keys.ends_with("Esc close ─"),
            "{screen}"
        );
        for key in ["", "<Tab>"] {
            let buffer = painted(chat.keys(key));
            let is_reversed =
                |cell: &ratatui::buffer::Cell| cell.modifier.contains(Modifier::REVERSED);
            assert!(!buffer.content.iter().any(is_reversed), "{script}");
            let (theme, marks) = (chat.model.screen.theme, buffer.content.iter());
            let mut marks = marks.filter(|cell| cell.symbol() == "▌");
            assert!(
                marks.any(|cell| Some(cell.fg) == theme.accent.fg),
                "{script}"
            );
        }
    }
}

#[test]
fn letters_filter_a_list_and_escape_first_clears_the_filter_then_closes_the_list() {
    for script in LISTS {
        let mut chat = opened(script);
        chat.keys("zzz");
        assert!(
            chat.screen().contains(" › zzz"),
            "{script}\n{}",
            chat.screen()
        );
        // Nothing matches, except that the models offer to pull this name.
        if script != "/models<Enter>" {
            chat.keys("<Enter>");
            assert!(chat.model.layer.is_some(), "{script}");
        }
        chat.keys("<Esc>");
        assert!(
            !chat.screen().contains("zzz"),
            "{script}\n{}",
            chat.screen()
        );
        assert!(chat.model.layer.is_some(), "{script}");
        chat.keys("<Esc>");
        assert!(chat.model.layer.is_none(), "{script}");
    }
}

#[test]
fn one_click_selects_and_the_next_one_acts() {
    let mut chat = opened("/think<Enter>");
    let (click, row) = (
        MouseEventKind::Down(MouseButton::Left),
        row_of(&mut chat, "4  medium"),
    );
    mouse(&mut chat, click, 10, row);
    assert!(chat.screen().contains("▌ 4  medium"), "{}", chat.screen());
    assert_eq!(chat.commands(), []);
    mouse(&mut chat, click, 30, row);
    assert_eq!(chat.commands(), [Command::SetThink(Think::Medium)]);
    assert!(chat.model.layer.is_none());
}

#[test]
fn wheel_scrolls_the_list_under_the_pointer() {
    let mut chat = opened("<Ctrl+p>");
    let first = row_of(&mut chat, "Choose, pull, add or remove models");
    mouse(&mut chat, MouseEventKind::ScrollDown, 10, first);
    assert_eq!(row_of(&mut chat, "▌ Show all keys and commands"), first + 3);
    mouse(&mut chat, MouseEventKind::ScrollDown, 10, 1);
    assert!(
        chat.screen()
            .lines()
            .nth(first + 3)
            .is_some_and(|row| row.starts_with(" ▌"))
    );
}

fn preview(chat: &mut ChatHarness, id: &str, text: &str) {
    let request = chat
        .commands()
        .into_iter()
        .rev()
        .find_map(|command| match command {
            Command::PreviewSession { query, session, .. } => Some((query, session)),
            _ => None,
        });
    let (query, session) = request.expect("a preview is requested");
    assert_eq!(session, SessionId::from(id));
    let preview = SessionPreview {
        session,
        messages: vec![
            SavedMessage::user(text),
            SavedMessage::assistant("It is **mild**."),
        ],
        skipped: 0,
    };
    chat.engine_event(Event::SessionPreviewed {
        query,
        preview: Arc::new(preview),
    });
}

#[test]
fn preview_is_rendered_and_follows_the_selection() {
    for size in [(80, 24), (120, 40)] {
        let mut chat = chat();
        chat.size(size.0, size.1).keys("<F4>");
        list_sessions(
            &mut chat,
            1,
            vec![summary("a", "Seoul"), summary("b", "Busan")],
        );
        preview(&mut chat, "a", "Weather in Seoul?");
        let screen = chat.screen();
        assert!(screen.contains("▌ Weather in Seoul?"), "{screen}");
        assert!(screen.contains("It is mild."), "{screen}");
        chat.keys("<Down>");
        assert!(!chat.screen().contains("Weather in Seoul?"));
        preview(&mut chat, "b", "Weather in Busan?");
        assert!(chat.screen().contains("Weather in Busan?"));
        chat.keys("x");
        let screen = chat.screen();
        assert!(
            screen.contains("Nothing matches \"") && !screen.contains("mild"),
            "{screen}"
        );
    }
}

#[test]
fn titles_of_sessions_have_thirty_columns_and_a_question_replaces_the_row() {
    let title = "A title of just thirty columns";
    let mut chat = chat();
    chat.keys("<F4>");
    list_sessions(
        &mut chat,
        1,
        vec![summary("a", "Seoul"), summary("b", title)],
    );
    for width in [48, 60, 66, 80, 96, 120] {
        chat.size(width, 24);
        let row = row_of(&mut chat, title);
        let screen = chat.screen();
        let row = screen.lines().nth(row).expect("a row");
        assert!(row.contains("Wed "), "{width}: {row}");
    }
    let row = row_of(&mut chat, title);
    chat.keys("<Down><Tab>d");
    assert_eq!(
        row_of(&mut chat, &format!("▌ Delete \"{title}\"? (y/n)")),
        row
    );
    chat.keys("y");
    assert!(
        chat.commands()
            .contains(&Command::DeleteSession("b".into()))
    );
}
