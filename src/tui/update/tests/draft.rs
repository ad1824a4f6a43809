//! The draft saved on exit never contains private text.

use crate::tui::update::tests::*;

/// The draft that quitting would write to disk.
fn kept(chat: &mut Chat) -> Vec<Command> {
    chat.wait(2_000).sent.clear();
    chat.keys("<Ctrl+c>");
    assert_eq!(chat.sent.last(), Some(&Effect::Quit));
    chat.commands()
}

fn private() -> Chat {
    let mut chat = chat();
    chat.keys("/private<Enter>")
        .engine(Event::PrivateChanged(true));
    chat
}

fn opens_another(chat: &mut Chat) {
    chat.engine(Event::PrivateChanged(false));
    chat.engine(Event::SessionOpened(Arc::new(Session::new("m"))));
}

#[test]
fn up_does_not_bring_back_what_was_asked_in_private() {
    let mut chat = chat();
    chat.keys("open<Enter>")
        .answers("1")
        .keys("/private<Enter>");
    // The engine has not confirmed private mode yet.
    chat.keys("secret<Enter>").answers("2");
    chat.engine(Event::PrivateChanged(true));
    chat.keys("hidden<Enter>").answers("3");
    chat.keys("<Up><Up>");
    assert_eq!(chat.message(), "secret");
    opens_another(&mut chat);
    assert_eq!(chat.message(), "");
    chat.keys("<Up>");
    assert_eq!(chat.message(), "open");
    assert_eq!(kept(&mut chat), []);
}

#[test]
fn words_typed_or_queued_in_private_are_not_kept_after_it() {
    let mut chat = private();
    chat.keys("one<Enter>two<Enter>three");
    opens_another(&mut chat);
    assert_eq!(chat.message(), "two\nthree");
    assert_eq!(kept(&mut chat), []);
    let mut chat = private();
    chat.keys("secret");
    opens_another(&mut chat);
    chat.keys("<Up><Down> more");
    assert_eq!(kept(&mut chat), []);
}

#[test]
fn words_typed_after_private_are_kept_again() {
    let mut chat = private();
    chat.keys("secret");
    opens_another(&mut chat);
    chat.keys("<Ctrl+u>open");
    assert_eq!(kept(&mut chat), [Command::KeepDraft("open".into())]);
}

#[test]
fn leaving_a_private_conversation_keeps_nothing() {
    assert_eq!(kept(private().keys("secret")), []);
    // Not even before the engine confirms.
    assert_eq!(kept(chat().keys("/private<Enter>secret")), []);
}

#[test]
fn leaving_while_looking_back_keeps_what_was_being_typed() {
    let mut chat = chat();
    chat.keys("old<Enter>").answers("1").keys("new<Home><Up>");
    assert_eq!(chat.message(), "old");
    assert_eq!(kept(&mut chat), [Command::KeepDraft("new".into())]);
}

#[test]
fn a_queued_prompt_that_was_looked_at_is_kept_once() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>x<Home><Up>");
    assert_eq!(chat.message(), "two");
    chat.ends(TurnEnd::Cancelled);
    assert_eq!(kept(&mut chat), [Command::KeepDraft("two\n\nx".into())]);
}

#[test]
fn leaving_while_changing_the_last_prompt_keeps_what_stood_there_before() {
    let mut chat = chat();
    chat.keys("old<Enter>").answers("1");
    chat.input(Input::Paste("new".into()));
    crate::tui::update::branches::edit(&mut chat.model);
    assert_eq!(chat.message(), "old");
    assert_eq!(kept(&mut chat), [Command::KeepDraft("new".into())]);
}

#[test]
fn a_draft_stays_on_the_disk_until_it_is_sent_or_thrown_away() {
    let done = Command::KeepDraft(String::new());
    for (keys, gone) in [
        ("x", false),
        ("<Home><Up>", false),
        ("<Ctrl+u>", true),
        ("<Enter>", true),
    ] {
        let mut chat = chat();
        chat.engine(Event::HistoryLoaded {
            prompts: Arc::new(vec!["old".into()]),
            draft: Some("draft".into()),
        });
        chat.keys(keys);
        assert_eq!(chat.commands().contains(&done), gone, "{keys}");
    }
}

#[test]
fn a_draft_that_comes_late_covers_nothing_and_is_one_up_away() {
    let mut chat = chat();
    chat.keys("fast").engine(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some("draft".into()),
    });
    assert_eq!(chat.message(), "fast");
    chat.keys("<Home><Up>");
    assert_eq!(chat.message(), "draft");
}
