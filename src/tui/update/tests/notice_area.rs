//! The notice area above the message, queued prompts, and the form for a server while none is
//! known.

use crate::domain::Banner;
use crate::tui::update::tests::*;

fn long_notice() -> Notice {
    Notice::warning("word ".repeat(200).trim_end().to_owned())
}

#[test]
fn truncated_notices_and_banners_are_marked_at_every_size() {
    for (width, height) in [(20, 6), (30, 8), (40, 10), (60, 20), (104, 30)] {
        let mut chat = chat();
        chat.engine_event(Event::NoticePosted(long_notice()))
            .size(width, height);
        let screen = chat.screen();
        assert!(
            screen.contains("word…") || screen.contains("wor…"),
            "{screen}"
        );
        let mut chat = self::chat();
        chat.engine_event(Event::BannersChanged(vec![Banner::new(
            crate::domain::BannerCause::UnwritableHome,
            long_notice(),
        )]));
        let screen = chat.size(width, height).screen();
        assert!(screen.contains('…'), "{screen}");
    }
}

#[test]
fn hidden_queued_prompts_are_counted() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    let prompts = ["two", "three", "four", "five", "six", "seven", "eight"];
    for prompt in prompts {
        chat.keys(prompt).keys("<Enter>");
    }
    let screen = chat.size(60, 12).screen();
    let visible = prompts
        .iter()
        .filter(|prompt| screen.contains(**prompt))
        .count();
    assert!(visible > 0 && visible < 7, "{screen}");
    let label = format!("+{} more queued", 7 - visible);
    assert!(screen.contains(&label), "{screen}");
    assert!(!chat.size(60, 40).screen().contains("more queued"));
}

#[test]
fn truncated_queued_prompt_ends_with_an_ellipsis() {
    for prompt in ["한국어 ".repeat(60), "one\ntwo".to_owned()] {
        let mut chat = chat();
        chat.keys("one<Enter>").input(UiInput::Paste(prompt));
        let screen = chat.keys("<Enter>").screen();
        let row = screen.lines().find(|row| row.contains("queued"));
        assert!(row.is_some_and(|row| row.contains('…')), "{screen}");
    }
}

#[test]
fn server_can_be_added_without_any_known_server() {
    let mut chat = chat();
    chat.keys("/models<Enter><Tab>a");
    let screen = chat.screen();
    assert!(screen.contains("── Another server"), "{screen}");
}
