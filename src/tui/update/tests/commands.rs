//! The notice of `/context`, and suggestions for unknown commands.

use super::*;

#[test]
fn context_command_shows_the_token_usage() {
    use crate::protocol::{ContextMeter, ContextShares};
    let mut chat = chat();
    chat.keys("/context<Enter>");
    assert!(chat.notice().starts_with("The context is still empty."));
    let meter = ContextMeter {
        used: 2_000,
        limit: Some(16_384),
        is_measured: false,
        shares: ContextShares {
            system: 250,
            tools: 500,
            total: 1_000,
        },
    };
    chat.engine_event(Event::ContextMeasured(meter));
    for command in ["/context", "/tokens"] {
        chat.keys(command).keys("<Enter>");
        assert_eq!(
            chat.notice(),
            "The context holds about 2,000 of 16,384 tokens: system message ~500, tools ~1,000, \
             conversation ~500, free for answers 14,384. /compact shortens the conversation."
        );
    }
}

#[test]
fn unknown_command_suggests_one_of_similar_meaning_or_spelling() {
    for (typed, expected) in [
        ("/usage", "Did you mean /context?"),
        ("/regenerate", "Did you mean /retry?"),
        ("/hlep", "Did you mean /help?"),
        ("/qqqq", "/help lists them all."),
    ] {
        let mut chat = chat();
        chat.keys(typed).keys("<Esc><Enter>");
        let notice = chat.notice();
        assert!(notice.ends_with(expected), "{typed}: {notice}");
    }
}
