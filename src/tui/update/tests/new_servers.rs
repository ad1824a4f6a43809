//! Adding a server with `/mcp add`, and entering the values of variables that a server lacks.

use crate::domain::model::Secret;
use crate::domain::{NewServer, NewServerLaunch, ServerStatus};
use crate::fixtures;
use crate::protocol::NewServerCommand;
use crate::tui::update::tests::*;

fn added(command: &str, args: &[&str]) -> NewServer {
    NewServer {
        name: "files".to_owned(),
        description: None,
        enabled: false,
        launch: NewServerLaunch::Command {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: Vec::new(),
            cwd: None,
        },
        values: Vec::new(),
    }
}

#[test]
fn a_server_of_mcp_add_is_shown_before_it_is_added() {
    let mut chat = chat();
    let screen = chat
        .keys("/mcp add files npx -y \"my files\"<Enter>")
        .screen();
    for part in [
        "files",
        "command  npx -y \"my files\"",
        "started at once",
        "Enter add it",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    chat.keys("<Enter>");
    assert_eq!(
        chat.commands(),
        [],
        "the key that opened the text adds nothing"
    );
    chat.wait(600).keys("<Enter>");
    let server = added("npx", &["-y", "my files"]);
    assert_eq!(
        chat.commands(),
        [Command::NewServer(NewServerCommand::Add(Box::new(server)))]
    );
    assert!(chat.model.layer.is_none());
}

#[test]
fn esc_in_the_review_of_a_new_server_adds_nothing() {
    let mut chat = chat();
    chat.keys("/mcp add files npx<Enter>")
        .wait(600)
        .keys("<Esc>");
    assert_eq!(chat.commands(), []);
    assert!(chat.model.layer.is_none());
}

#[test]
fn secrets_in_mcp_add_are_not_shown() {
    let mut chat = chat();
    chat.keys("/mcp add files --env API_KEY=hidden-1 --env B_TOKEN npx<Enter>");
    let screen = chat.screen();
    for part in [
        "env      API_KEY=${API_KEY}",
        "needs    B_TOKEN",
        "stores   API_KEY",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    assert!(!screen.contains("hidden-1"), "{screen}");
}

#[test]
fn a_server_that_cannot_be_added_is_refused_with_a_reason() {
    let mut chat = chat();
    chat.engine_event(Event::ServersListed(vec![fixtures::server(
        "taken",
        Vec::new(),
    )]));
    for (argument, reason) in [
        ("x run 'a", "A quote ' is not closed."),
        (
            "x --cwd /tmp run",
            "There is no option `--cwd` for a server.",
        ),
        ("taken run", "There is a server `taken` already."),
    ] {
        chat.keys(&format!("/mcp add {argument}<Enter>"));
        assert!(chat.notice().starts_with(reason), "{}", chat.notice());
        assert!(chat.model.layer.is_none());
    }
    assert_eq!(chat.commands(), []);
}

/// A chat with a server that is off and lacks variables.
fn chat_with_lacking_server(variables: &[&str]) -> ChatHarness {
    let mut chat = chat();
    let mut server = fixtures::server("docs", Vec::new());
    server.enabled = false;
    server.status = ServerStatus::Misconfigured("it needs a variable".to_owned());
    server.missing_variables = variables.iter().map(|&name| name.to_owned()).collect();
    chat.engine_event(Event::ServersListed(vec![server]));
    chat
}

#[test]
fn a_server_that_lacks_variables_asks_for_their_values_when_it_is_switched_on() {
    for command in ["/toggle-mcp docs", "/mcp docs on"] {
        let mut chat = chat_with_lacking_server(&["A_TOKEN", "B_TOKEN"]);
        let screen = chat.keys(&format!("{command}<Enter>")).screen();
        assert!(screen.contains("A_TOKEN (1 of 2)"), "{screen}");
        assert_eq!(chat.commands(), []);
        let screen = chat.keys("hidden-1").screen();
        assert!(screen.contains("A_TOKEN: ••••••••"), "{screen}");
        assert!(!screen.contains("hidden"), "{screen}");
        chat.keys("<Enter>");
        assert_eq!(chat.commands(), []);
        chat.keys("x<Backspace>")
            .input(UiInput::Paste("hidden-2\rline\r\nend\r".into()))
            .keys("<Enter>");
        let value = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
        let commands = chat.commands();
        let values = vec![
            value("A_TOKEN", "hidden-1"),
            value("B_TOKEN", "hidden-2\nline\nend"),
        ];
        let expected = Command::NewServer(NewServerCommand::SetVariables("docs".into(), values));
        assert_eq!(commands, [expected]);
        assert!(!format!("{commands:?}").contains("hidden"));
        assert!(chat.model.layer.is_none());
    }
}

#[test]
fn without_a_value_a_server_that_lacks_a_variable_stays_off() {
    let mut chat = chat_with_lacking_server(&["A_TOKEN"]);
    chat.keys("/toggle-mcp docs<Enter><Enter>x<Esc>");
    assert_eq!(chat.commands(), []);
    assert!(chat.model.layer.is_none());
}
