//! Hints and notices about keys, and the keys that they name.

use crate::domain::{Banner, BannerCause, Server, ServerStatus};
use crate::tui::composer::state::MessageTarget;
use crate::tui::update::tests::*;

fn failed_server(name: &str) -> Server {
    let notice = Notice::failure("It ended.").with_headline("no module named foo");
    Server {
        status: ServerStatus::Failed(notice),
        ..fixtures::server(name, Vec::new())
    }
}

fn connected_server(name: &str, tools: usize) -> Server {
    let tools = (0..tools).map(|n| fixtures::tool(&format!("t{n}")));
    fixtures::server(name, tools.collect())
}

fn with_long_answer() -> ChatHarness {
    let mut chat = chat();
    let lines: Vec<String> = (0..60).map(|n| format!("- line {n}")).collect();
    chat.keys("go<Enter>").model_answers(&lines.join("\n"));
    chat
}

#[test]
fn palette_types_a_command_that_needs_an_argument() {
    let mut chat = chat();
    chat.keys("half a thought<Ctrl+p>rename<Enter>");
    assert_eq!(chat.message(), "/rename ");
    chat.keys("Trip to Busan<Enter>");
    let rename = Command::RenameSession("Trip to Busan".into());
    assert!(chat.commands().contains(&rename));
    chat.keys("<Up>");
    assert_eq!(chat.message(), "half a thought");
}

#[test]
fn command_without_its_argument_stays_in_the_message() {
    let mut chat = chat();
    chat.keys("/rename<Enter>");
    assert_eq!(chat.message(), "/rename ");
    assert_eq!(chat.notice(), "Usage: /rename TITLE");
    assert_eq!(chat.commands(), []);
}

#[test]
fn the_rename_command_without_a_title_puts_the_current_one_into_the_message() {
    for keys in ["/rename<Enter>", "<Ctrl+p>rename<Enter>"] {
        let mut chat = chat();
        chat.keys("Trip<Enter>").model_answers("1").keys(keys);
        assert_eq!(chat.message(), "/rename Trip");
        chat.keys(" to Busan<Enter>");
        let rename = Command::RenameSession("Trip to Busan".into());
        assert!(chat.commands().contains(&rename));
    }
}

#[test]
fn the_mcp_add_command_and_the_empty_list_say_how_to_add_a_server() {
    let mut chat = chat();
    let screen = chat.keys("/mcp add files<Enter>").screen();
    assert!(screen.contains("/mcp add NAME COMMAND"), "{screen}");
    chat.keys("<Esc>/mcp<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("/mcp add NAME COMMAND"), "{screen}");
}

#[test]
fn the_mark_for_rows_below_names_the_key_that_goes_to_the_end() {
    let mut chat = with_long_answer();
    chat.keys("<PgUp>");
    let screen = chat.screen();
    assert!(screen.contains("lines · Ctrl+End ─"), "{screen}");
    chat.keys("<End>");
    assert!(chat.screen().contains("line 59"));
    chat.keys("<Home>");
    assert!(chat.screen().contains("line 0"));
    chat.keys("text<End>");
    assert!(chat.screen().contains("line 0"), "End moves within text");
}

#[test]
fn ctrl_c_ends_the_edit_of_the_last_prompt_and_keeps_both_texts() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").wait(2_000);
    chat.keys("draft").commands();
    chat.model
        .composer
        .begin_editing(MessageTarget::LastPrompt, "one");
    chat.keys(" more<Ctrl+c>");
    assert_eq!(chat.message(), "");
    assert_eq!(chat.model.composer.text_before_edit(), None);
    assert!(!chat.sent.contains(&UiEffect::Quit));
    chat.keys("<Up>");
    assert_eq!(chat.message(), "one more");
    chat.keys("<Up>");
    assert_eq!(chat.message(), "draft");
}

#[test]
fn ctrl_c_first_ends_the_edit_of_an_emptied_prompt_and_then_quits() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").wait(2_000);
    chat.keys("/edit<Enter><Ctrl+u><Ctrl+c>");
    assert_eq!(chat.model.composer.text_before_edit(), None);
    assert!(!chat.sent.contains(&UiEffect::Quit));
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&UiEffect::Quit));
}

#[test]
fn notice_about_a_running_turn_disappears_with_the_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("1");
    chat.keys("/undo<Enter>");
    assert!(chat.notice().starts_with("A turn is still running."));
    chat.turn_ends(TurnEnd::Cancelled);
    assert_eq!(chat.notice(), "");
}

#[test]
fn hint_of_a_failed_server_offers_its_error() {
    let mut chat = chat();
    let servers = vec![failed_server("docs"), connected_server("files", 2)];
    chat.engine_event(Event::ServersListed(servers));
    chat.keys("<F2>");
    assert!(chat.screen().contains("Enter error"), "{}", chat.screen());
    chat.keys("<Down>");
    assert!(chat.screen().contains("Enter tools"), "{}", chat.screen());
}

#[test]
fn the_notice_about_copying_names_the_copied_text() {
    let mut chat = chat();
    chat.keys("go<Enter>").model_answers("a\nb\n\nc");
    chat.keys("/copy<Enter>");
    let expected = "Sent the last answer (4 lines) to the terminal's clipboard (OSC 52).";
    assert_eq!(chat.notice(), expected);
}

#[test]
fn sidebar_names_a_failed_server_that_is_scrolled_away() {
    let mut chat = chat();
    let mut servers: Vec<Server> = (0..60)
        .map(|n| connected_server(&format!("s{n}"), 1))
        .collect();
    servers.push(failed_server("docs"));
    chat.size(120, 40)
        .engine_event(Event::ServersListed(servers));
    let screen = chat.screen();
    assert!(screen.contains("✗ docs"), "{screen}");
    let mut few = crate::tui::update::tests::chat();
    let servers = vec![connected_server("a", 1), failed_server("docs")];
    few.size(120, 40)
        .engine_event(Event::ServersListed(servers));
    let screen = few.screen();
    assert_eq!(screen.matches("✗ docs").count(), 1, "{screen}");
    assert!(screen.contains("tools tokens"), "{screen}");
}

#[test]
fn renaming_shows_the_new_title_at_once_and_a_notice_when_saved() {
    let mut chat = chat();
    chat.engine_event(Event::SessionRenamed("Trip to Busan".into()));
    assert!(chat.screen().contains("Trip to Busan"));
    assert_eq!(chat.notice(), "", "it is not saved yet");
    let renamed = crate::protocol::SavedSessionEvent::Renamed {
        session: None,
        title: "Trip to Busan".into(),
    };
    chat.engine_event(Event::SavedSession(renamed));
    assert_eq!(chat.notice(), "Renamed to \"Trip to Busan\".");
}

#[test]
fn empty_lists_offer_no_action_and_name_the_filter() {
    let mut chat = chat();
    chat.keys("/trust<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Esc close"), "{screen}");
    assert!(!screen.contains("Enter show"), "{screen}");
    assert!(!screen.contains("revoke ·"), "{screen}");
    chat.keys("<Esc><Ctrl+p>xyz");
    let screen = chat.screen();
    assert!(screen.contains("Nothing matches \"xyz\"."), "{screen}");
    assert!(!screen.contains("Enter run"), "{screen}");
    chat.keys("<Esc><Esc><Ctrl+o>");
    let query = match chat.commands().pop() {
        Some(Command::ListSessions(query)) => query,
        other => panic!("{other:?}"),
    };
    chat.engine_event(Event::SessionsListed {
        query,
        listed_at: jiff::Timestamp::UNIX_EPOCH,
        sessions: Arc::default(),
    });
    let screen = chat.screen();
    assert!(screen.contains("No saved conversations yet."), "{screen}");
    assert!(!screen.contains("Enter resume"), "{screen}");
    chat.keys("xyz");
    let screen = chat.screen();
    assert!(screen.contains("Nothing matches \"xyz\"."), "{screen}");
}

#[test]
fn esc_hides_a_banner_that_only_recommends_something() {
    let banner = |cause, text: &str| Banner::new(cause, Notice::warning(text));
    let banners = vec![
        banner(BannerCause::UnwritableHome, "Cannot be written."),
        banner(BannerCause::OpenPermissions, "Others can read it."),
    ];
    let mut chat = chat();
    chat.engine_event(Event::BannersChanged(banners.clone()));
    let screen = chat.screen();
    assert!(
        screen.contains("Others can read it. Esc hides this."),
        "{screen}"
    );
    assert!(screen.contains("Cannot be written. "), "{screen}");
    chat.keys("<Esc>")
        .engine_event(Event::BannersChanged(banners));
    let screen = chat.screen();
    assert!(!screen.contains("Others can read it."), "{screen}");
    assert!(screen.contains("Cannot be written."), "{screen}");
}

#[test]
fn sidebar_opens_by_itself_only_with_more_than_one_row() {
    let mut chat = chat();
    let listed = |servers| Event::ServersListed(servers);
    chat.size(120, 40)
        .engine_event(listed(vec![connected_server("humble", 2)]));
    assert!(!chat.screen().contains("tokens"), "{}", chat.screen());
    assert!(chat.screen().contains("tools 2"), "{}", chat.screen());
    chat.keys("<F2>");
    assert!(chat.screen().contains("tokens"), "{}", chat.screen());
    chat.keys("<F2>");
    assert!(!chat.screen().contains("tokens"), "{}", chat.screen());
    let mut chat = crate::tui::update::tests::chat();
    let servers = vec![connected_server("humble", 2), connected_server("files", 1)];
    chat.size(120, 40).engine_event(listed(servers));
    assert!(chat.screen().contains("tokens"), "{}", chat.screen());
}

#[test]
fn a_small_screen_names_the_help_and_the_keys_of_a_question() {
    let mut chat = chat();
    let screen = chat.size(40, 10).screen();
    assert!(screen.contains("Enter send · F1 help"), "{screen}");
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    let screen = chat.size(40, 10).screen();
    assert!(screen.contains("Press a key to choose"), "{screen}");
    let screen = chat.size(40, 8).screen();
    assert!(!screen.contains("Press a key to choose"), "{screen}");
    assert!(screen.contains("y "), "{screen}");
}

#[test]
fn the_hint_names_the_key_that_asks_again_after_a_turn_stopped_before_any_text() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    assert!(!chat.screen().contains("ask again"));
    chat.keys("<Ctrl+c>")
        .engine_event(Event::InterruptAcknowledged)
        .turn_ends(TurnEnd::Cancelled)
        .wait(7_000);
    let screen = chat.screen();
    assert!(screen.contains("Alt+R ask again"), "{screen}");
    chat.keys("x");
    assert!(
        !chat.screen().contains("ask again"),
        "a new prompt is typed"
    );
    chat.keys("<Backspace><Alt+r>").model_answers("The first.");
    chat.wait(7_000);
    assert!(!chat.screen().contains("ask again"));
}

#[test]
fn a_short_notice_leaves_the_keys_of_the_pane_visible() {
    let mut chat = with_long_answer();
    chat.wait(7_000).keys("<Tab><Up>y");
    let screen = chat.screen();
    let last = screen.lines().last().expect("the hint line");
    assert!(last.contains("Sent the answer"), "{screen}");
    assert!(last.contains("y copy"), "{screen}");
}
