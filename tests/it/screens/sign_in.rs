//! Snapshots of the sign-in dialog.

use super::at_two_sizes;
use crate::support::screen_harness::{ScreenHarness, screen_harness};
use crossterm::event::KeyCode;
use humble::domain::{Notice, Server, ServerStatus, SignInRequest};
use humble::protocol::{Event, SignInEvent};
use humble::tui::UiInput;
use std::sync::Arc;

fn request() -> SignInRequest {
    let url = format!(
        "https://xn--exmple-4nf.example/authorize?response_type=code&client_id=humble&redirect_uri=\
         http%3A%2F%2F127.0.0.1%3A14713%2Fcallback&state={}&code_challenge={}&scope=read+write",
        "s".repeat(43),
        "c".repeat(43)
    );
    SignInRequest {
        server: "mail".into(),
        server_url: "https://mail.example/mcp".to_owned(),
        host: "xn--exmple-4nf.example".to_owned(),
        scopes: vec!["read".to_owned(), "write\u{202e}all".to_owned()],
        url,
        callback: "http://127.0.0.1:14713/callback".to_owned(),
        is_listening: true,
    }
}

/// Opens the dialog with `/mcp mail login`.
fn started(story: &mut ScreenHarness) -> &mut ScreenHarness {
    let notice = Notice::warning("Server `mail` requires you to sign in.");
    let mail: Server = Server {
        status: ServerStatus::NeedsSignIn(notice),
        ..crate::support::fixtures::server("mail", Vec::new())
    };
    story
        .event(Event::ServersListed(vec![mail]))
        .types("/mcp mail login")
        .key(KeyCode::Enter)
}

fn opened(story: &mut ScreenHarness) -> &mut ScreenHarness {
    let opened = SignInEvent::Opened(Arc::new(request()));
    started(story).event(Event::SignIn(opened))
}

#[test]
fn sign_in_before_the_authorization_server_is_known() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        started(story);
    }));
}

#[test]
fn sign_in_with_an_international_host() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        opened(story);
    }));
}

#[test]
fn sign_in_after_a_wrong_address() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        let why = "The answer belongs to a different sign-in.".to_owned();
        opened(story)
            .event(Event::SignIn(SignInEvent::AddressRejected(why)))
            .input(UiInput::Paste(
                "http://127.0.0.1:14713/callback?code=x".to_owned(),
            ));
    }));
}

#[test]
fn the_exchange_of_the_code_is_shown_while_it_runs() {
    let mut story = screen_harness((80, 24));
    opened(&mut story).event(Event::SignIn(SignInEvent::ExchangingCode));
    let screen = story.screen();
    assert!(screen.contains("Exchanging the code…"), "{screen}");
    assert!(!screen.contains("open the browser"), "{screen}");
    story.event(Event::SignIn(SignInEvent::Ended("mail".into())));
    assert!(!story.screen().contains("Exchanging"));
}

#[test]
fn a_long_reason_why_an_address_is_wrong_is_shown_in_full() {
    let begin = "http://127.0.0.1:14713/callback";
    let why = format!(
        "This is not the address that the browser was sent to; it begins with `{begin}`. Copy the \
         whole address from the browser's address bar."
    );
    let mut story = screen_harness((80, 24));
    opened(&mut story).event(Event::SignIn(SignInEvent::AddressRejected(why.clone())));
    let screen = story.screen();
    let without_spaces = |text: &str| -> String {
        let is_space_or_frame = |c: char| c.is_whitespace() || c == '\u{2502}';
        text.replace(is_space_or_frame, "")
    };
    assert!(
        without_spaces(&screen).contains(&without_spaces(&why)),
        "{screen}"
    );
}
