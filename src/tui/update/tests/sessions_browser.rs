//! The browser of saved conversations, and opening one from it or from the command line.

use crate::domain::{Banner, BannerCause, IndexProgress, SavedMessage, Session, SessionSummary};
use crate::protocol::{SavedSessionCommand, SavedSessionEvent};
use crate::tui::layout::ScreenLayout;
use crate::tui::update::tests::*;
use std::collections::HashSet;

fn summary(id: &str, title: &str, open_error: Option<&str>) -> SessionSummary {
    SessionSummary {
        id: id.into(),
        title: title.to_owned(),
        model: "qwen3:4b".into(),
        started_at: None,
        changed_at: "2026-11-18T12:00:00Z".parse().expect("a time"),
        message_count: 2,
        open_error: open_error.map(str::to_owned),
    }
}

/// The browser with a broken file and a conversation.
fn browser() -> ChatHarness {
    let mut chat = chat();
    chat.keys("<F4>");
    let commands = chat.commands();
    let query = commands.into_iter().find_map(|command| match command {
        Command::ListSessions(query) => Some(query),
        _ => None,
    });
    let sessions = vec![
        summary("broken.json", "", Some("it is not valid JSON")),
        summary("b.json", "Busan", None),
    ];
    chat.engine_event(Event::SessionsListed {
        query: query.expect("a request"),
        listed_at: "2026-11-20T12:00:00Z".parse().expect("a time"),
        sessions: Arc::new(sessions),
    });
    chat.commands();
    chat
}

#[test]
fn a_broken_file_offers_only_its_reason_and_deletion() {
    let mut chat = browser();
    chat.keys("<Tab>");
    let keys = |chat: &mut ChatHarness| {
        let screen = chat.screen();
        let line = screen.lines().find(|line| line.contains("Enter "));
        line.expect("the keys").to_owned()
    };
    let offered = keys(&mut chat);
    assert!(
        offered.contains("Enter reason") && offered.contains("d delete"),
        "{offered}"
    );
    for absent in ["rename", "fork", "export", "resume"] {
        assert!(!offered.contains(absent), "{offered}");
    }
    for key in ["r", "f", "e", "<Enter>"] {
        chat.model.notices = Default::default();
        chat.keys(key);
        let notice = chat.notice();
        assert!(
            notice.contains("broken.json is broken: it is not valid JSON"),
            "{key}: {notice}"
        );
        assert!(chat.commands().is_empty(), "{key}");
        assert!(chat.model.layer.is_some(), "{key}");
    }
    chat.keys("<Down>");
    let offered = keys(&mut chat);
    assert!(
        offered.contains("Enter resume") && offered.contains("r rename"),
        "{offered}"
    );
}

#[test]
fn the_keys_of_the_rows_are_named_before_the_rows_have_the_focus() {
    let mut chat = browser();
    chat.keys("<Down>");
    let screen = chat.screen();
    for hint in ["Tab then r rename", "f fork", "e export", "d delete"] {
        assert!(screen.contains(hint), "{screen}");
    }
}

#[test]
fn a_long_reason_beside_the_title_leaves_the_counter_visible() {
    let mut chat = browser();
    let progress = IndexProgress {
        total: 2,
        error: Some("the folder /home/someone/.humble/cache is on a read-only file system".into()),
        ..IndexProgress::default()
    };
    chat.engine_event(Event::SavedSession(SavedSessionEvent::Indexed(progress)));
    let screen = chat.screen();
    let title = screen
        .lines()
        .find(|line| line.contains("Sessions"))
        .expect("a title");
    assert!(title.contains("not indexed: the folder"), "{title}");
    assert!(title.contains(" 2 "), "the counter: {title}");
}

#[test]
fn banners_leave_most_of_the_browser_visible() {
    let mut chat = browser();
    let banners = ["a.json", "b.json", "c.json", "d.json"].map(|file| {
        let cause = BannerCause::UnreadableFile(file.into());
        let text = format!("{file}, line 1: {}", "a long reason ".repeat(20));
        Banner::new(cause, Notice::failure(text))
    });
    chat.engine_event(Event::BannersChanged(banners.to_vec()));
    let layout = ScreenLayout::compute(&mut chat.model);
    assert_eq!(layout.notice_area.height, 3);
    chat.keys("<Esc>");
    let layout = ScreenLayout::compute(&mut chat.model);
    assert!(layout.notice_area.height > 3, "the chat shows all of them");
}

/// A chat that is still opening the conversation of `--continue`.
fn opening() -> ChatHarness {
    let mut chat = chat();
    chat.model.conversation.is_opening = true;
    chat
}

fn submitted(chat: &mut ChatHarness) -> Vec<String> {
    let commands = chat.commands().into_iter();
    let texts = commands.filter_map(|command| match command {
        Command::Submit { prompt, .. } => Some(prompt.text),
        _ => None,
    });
    texts.collect()
}

#[test]
fn prompts_wait_for_the_conversation_of_the_command_line() {
    let mut chat = opening();
    chat.keys("early<Enter>later<Enter>");
    assert!(submitted(&mut chat).is_empty());
    assert!(chat.screen().contains("early"), "{}", chat.screen());
    let session = Session::new("qwen3");
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    assert_eq!(submitted(&mut chat), ["early"]);
    chat.model_answers("Yes.").wait(2_000);
    assert_eq!(submitted(&mut chat), ["later"]);
}

#[test]
fn prompts_for_a_conversation_that_cannot_be_opened_are_not_sent() {
    let mut chat = opening();
    chat.keys("early<Enter>");
    chat.engine_event(Event::SessionNotOpened);
    assert!(submitted(&mut chat).is_empty());
    assert_eq!(chat.message(), "early");
    chat.keys("<Enter>");
    assert_eq!(submitted(&mut chat), ["early"]);
}

/// Searches for `words` in the browser, and opens the second session. The search reports that the
/// text of this session contains the terms `found`, or finds nothing if `found` is empty.
fn open_found(words: &str, found: &[&str]) -> ChatHarness {
    let mut chat = browser();
    chat.keys(words);
    let query = chat
        .commands()
        .into_iter()
        .rev()
        .find_map(|command| match command {
            Command::SavedSession(SavedSessionCommand::Search { query, .. }) => Some(query),
            _ => None,
        });
    let sessions = found
        .iter()
        .map(|_| "b.json".into())
        .collect::<HashSet<_>>();
    chat.engine_event(Event::SavedSession(SavedSessionEvent::Found {
        query: query.expect("a search"),
        sessions: Arc::new(sessions),
        terms: found.iter().map(|term| (*term).to_owned()).collect(),
    }));
    chat.keys("<Enter>");
    let mut session = Session::new("m");
    session.id = Some("b.json".into());
    for number in 0..60 {
        let prompt = format!("prompt {number}");
        let answer = match number {
            7 | 40 => format!("The zebra of Busan, {number}."),
            _ => format!("Nothing, {number}."),
        };
        session.messages.push(SavedMessage::user(prompt.as_str()));
        session
            .messages
            .push(SavedMessage::assistant(answer.as_str()));
    }
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    for _ in 0..5 {
        chat.wait(100);
    }
    chat
}

#[test]
fn a_found_conversation_opens_at_its_first_match() {
    let mut chat = open_found("of zebra", &["of", "zebra"]);
    let screen = chat.screen();
    assert!(screen.contains("The zebra of Busan, 7."), "{screen}");
    assert!(screen.contains("1 of 2"), "{screen}");
    assert!(screen.contains("Tab other matches"), "{screen}");
    chat.keys("<Tab>n");
    let screen = chat.screen();
    assert!(screen.contains("The zebra of Busan, 40."), "{screen}");
    // A letter without a meaning there goes to the message.
    chat.keys("h");
    assert_eq!(chat.message(), "h");
}

#[test]
fn typing_after_a_found_conversation_was_opened_goes_to_the_message() {
    let mut chat = open_found("of zebra", &["of", "zebra"]);
    chat.commands();
    chat.keys("new question");
    assert_eq!(chat.message(), "new question");
    let screen = chat.screen();
    assert!(screen.contains("The zebra of Busan, 7."), "stays: {screen}");
    assert!(chat.model.chat.find.is_none());
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["new question"]);
}

#[test]
fn esc_after_a_found_conversation_was_opened_closes_the_find_bar_in_place() {
    let mut chat = open_found("of zebra", &["of", "zebra"]);
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(screen.contains("The zebra of Busan, 7."), "{screen}");
    assert!(chat.model.chat.find.is_none());
    assert_eq!(chat.model.panes.focus, Focus::Message);
}

#[test]
fn a_conversation_found_by_its_title_or_another_form_of_the_word_opens_at_its_end() {
    for (words, found) in [("busan", &[][..]), ("running", &["running"])] {
        let mut chat = open_found(words, found);
        let screen = chat.screen();
        assert!(screen.contains("Nothing, 59."), "{words}\n{screen}");
        assert!(chat.model.chat.find.is_none(), "{words}");
        chat.keys("n");
        assert_eq!(chat.message(), "n", "the message has the focus");
    }
}

#[test]
fn words_after_the_command_are_searched_for() {
    let mut chat = chat();
    chat.keys("/sessions busan hotel<Enter>");
    let searches = |command: &Command| {
        matches!(
            command,
            Command::SavedSession(SavedSessionCommand::Search { words, .. }) if words == "busan hotel"
        )
    };
    let commands = chat.commands();
    assert!(commands.iter().any(searches), "{commands:?}");
    assert!(chat.screen().contains("› busan hotel"), "{}", chat.screen());
}

#[test]
fn the_options_of_an_export_are_completed() {
    for (message, expected) in [
        (
            "/export ",
            vec!["md", "json", "html", "--last", "--answers"],
        ),
        ("/export html ", vec!["--last", "--answers"]),
        ("/export md --a", vec!["--answers"]),
    ] {
        let mut chat = chat();
        chat.keys(message);
        let list = chat.model.completions().expect("a list");
        let labels: Vec<&str> = list.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, expected, "{message}");
    }
}

#[test]
fn a_second_d_leaves_the_question_about_deleting_open() {
    let mut chat = browser();
    chat.keys("<Down><Tab>dd");
    assert!(
        chat.screen().contains("Delete \"Busan\"?"),
        "{}",
        chat.screen()
    );
    chat.commands();
    chat.keys("y");
    assert_eq!(chat.commands(), [Command::DeleteSession("b.json".into())]);
    chat.keys("dx");
    assert!(
        !chat.screen().contains("Delete \""),
        "any other key closes the question"
    );
}

#[test]
fn an_empty_filter_shows_as_much_of_its_syntax_as_fits() {
    let full = "words, model:NAME, after:2026-11-01, before:\"last month\"";
    for (columns, shown) in [(80, full), (40, "words, model:NAME, after:DAY")] {
        let mut chat = browser();
        chat.size(columns, 24);
        let screen = chat.screen();
        assert!(screen.contains(shown), "{screen}");
        chat.keys("x");
        assert!(!chat.screen().contains("words, "), "{}", chat.screen());
    }
}

#[test]
fn rows_show_the_model_at_each_usual_width() {
    for columns in [80, 95, 96, 100, 104, 110, 120, 160] {
        let mut chat = browser();
        let screen = chat.size(columns, 30).screen();
        let row = screen.lines().find(|line| line.contains("Busan"));
        let row = row.expect("the conversation");
        assert!(row.contains("qwen3:4b"), "{columns}\n{screen}");
    }
}
