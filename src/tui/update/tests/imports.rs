//! Importing MCP servers from other clients.

use crate::domain::model::Secret;
use crate::domain::{
    ImportPlan, ImportSource, NewServer, NewServerLaunch, ReplacedSecret, ServerCandidate,
    SkippedServer,
};
use crate::protocol::NewServerCommand;
use crate::tui::update::tests::*;

fn server(name: &str, args: &[&str]) -> NewServer {
    NewServer {
        name: name.to_owned(),
        description: None,
        enabled: false,
        launch: NewServerLaunch::Command {
            command: "npx".to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: vec![("API_KEY".to_owned(), "${API_KEY}".to_owned())],
            cwd: None,
        },
        values: Vec::new(),
    }
}

fn sources() -> Vec<ImportSource> {
    let candidate = |server| ServerCandidate {
        server,
        replaced_secrets: vec![ReplacedSecret {
            variable: "API_KEY".to_owned(),
            value: Secret::new("hidden-1"),
        }],
        remarks: Vec::new(),
    };
    let plan = ImportPlan {
        candidates: vec![
            candidate(server("files", &["-y", "files", "/srv"])),
            candidate(server("git", &["git\u{202e}"])),
        ],
        skipped: vec![SkippedServer {
            name: "notes".to_owned(),
            reason: "you already have it".to_owned(),
            is_already_there: true,
        }],
    };
    let source = |client: &str, plan| ImportSource {
        client: client.to_owned(),
        files: vec![format!("/home/me/{client}.json").into()],
        plan,
    };
    vec![
        source("Cursor", Ok(plan)),
        source("Windsurf", Err("It is not JSON.".to_owned())),
        source("Zed", Ok(ImportPlan::default())),
    ]
}

/// A chat in which `/import` has listed these clients.
fn importing_from(sources: Vec<ImportSource>) -> ChatHarness {
    let mut chat = chat();
    chat.keys("/import<Enter>");
    let query = match chat.commands().as_slice() {
        [Command::FindImportSources(query)] => *query,
        other => panic!("unexpected commands: {other:?}"),
    };
    let sources = Arc::new(sources);
    chat.engine_event(Event::ImportSourcesFound { query, sources });
    chat
}

#[test]
fn the_list_claims_nothing_before_the_clients_are_known() {
    let mut chat = chat();
    let screen = chat.keys("/import<Enter>").screen();
    assert!(screen.contains("Looking for servers"), "{screen}");
    assert!(!screen.contains("No servers"), "{screen}");
    let screen = importing_from(Vec::new()).screen();
    assert!(screen.contains("No servers of other clients"), "{screen}");
}

#[test]
fn servers_of_a_client_are_shown_in_full_before_they_are_added() {
    let mut chat = importing_from(sources());
    let list = chat.screen();
    for part in [
        "Cursor",
        "2 servers, 1 skipped",
        "Windsurf",
        "cannot be read",
    ] {
        assert!(list.contains(part), "{part}\n{list}");
    }
    let text = chat.keys("<Enter>").screen();
    for part in [
        "command  npx -y files /srv",
        "env      API_KEY=${API_KEY}",
        "needs    API_KEY",
        "U+202E",
        "Skipped notes: you already have it.",
        "Set this variable before you switch the servers on: API_KEY. Or enter",
        "Enter add all 2, switched off",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(chat.commands(), []);
    chat.keys("<Enter>");
    assert_eq!(
        chat.commands(),
        [],
        "the key that opened the text adds nothing"
    );
    chat.wait(600).keys("<Enter>");
    let servers = vec![
        server("files", &["-y", "files", "/srv"]),
        server("git", &["git\u{202e}"]),
    ];
    assert_eq!(
        chat.commands(),
        [Command::NewServer(NewServerCommand::Import(servers))]
    );
    assert!(chat.model.layer.is_none());
}

#[test]
fn space_leaves_out_individual_servers() {
    let mut chat = importing_from(sources());
    chat.size(80, 14).keys("<Enter>").screen();
    let text = chat.screen();
    for part in [
        "> [x] files",
        "  [x] git",
        "PgDn read all",
        "Space leave out",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    chat.wait(600).keys("<Space>");
    let text = chat.screen();
    for part in [
        "> [ ] files",
        "Enter add 1 of 2, switched off",
        "Space include",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = chat.keys("<Tab>").screen();
    assert!(text.contains("> [x] git"), "{text}");
    chat.keys("<Enter>");
    let git = server("git", &["git\u{202e}"]);
    assert_eq!(
        chat.commands(),
        [Command::NewServer(NewServerCommand::Import(vec![git]))]
    );
}

#[test]
fn the_secrets_of_a_server_are_copied_on_request_and_never_shown() {
    let mut chat = importing_from(sources());
    let text = chat.keys("<Enter>").wait(600).screen();
    assert!(text.contains("c copies the client's values"), "{text}");
    let text = chat.keys("c").screen();
    for part in ["stores   API_KEY", "needs    API_KEY"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("hidden"), "{text}");
    chat.keys("<Tab><Space><Enter>");
    let mut files = server("files", &["-y", "files", "/srv"]);
    files.values = vec![("API_KEY".to_owned(), Secret::new("hidden-1"))];
    let commands = chat.commands();
    assert_eq!(
        commands,
        [Command::NewServer(NewServerCommand::Import(vec![files]))]
    );
    assert!(!format!("{commands:?}").contains("hidden"));
}

#[test]
fn with_every_server_left_out_enter_adds_nothing() {
    let mut chat = importing_from(sources());
    chat.keys("<Enter>")
        .wait(600)
        .keys("<Space><Tab><Space><Enter>");
    assert_eq!(chat.commands(), []);
    assert!(
        !chat.screen().contains("switched off ·"),
        "{}",
        chat.screen()
    );
}

#[test]
fn esc_in_an_import_returns_to_the_list_and_adds_nothing() {
    let mut chat = importing_from(sources());
    chat.keys("<Enter>").wait(600).keys("<Esc>");
    assert!(chat.screen().contains("Windsurf"), "{}", chat.screen());
    chat.keys("<Esc>");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.commands(), []);
}

#[test]
fn a_client_that_cannot_be_read_or_has_nothing_new_adds_nothing() {
    let mut chat = importing_from(sources());
    chat.keys("wind<Enter>");
    assert_eq!(chat.notice(), "It is not JSON.");
    chat.keys("<Esc>zed<Enter>").wait(600);
    let screen = chat.screen();
    assert!(screen.contains("There is nothing to add."), "{screen}");
    assert!(!screen.contains("switched off"), "{screen}");
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), []);
}

#[test]
fn a_wrapped_value_does_not_look_like_another_line() {
    let spaces = " ".repeat(40);
    let long = server("x", &[&format!("a{spaces}command  safe")]);
    let plan = ImportPlan {
        candidates: vec![ServerCandidate {
            server: long,
            replaced_secrets: Vec::new(),
            remarks: Vec::new(),
        }],
        skipped: Vec::new(),
    };
    let source = ImportSource {
        client: "Cursor".to_owned(),
        files: Vec::new(),
        plan: Ok(plan),
    };
    let mut chat = importing_from(vec![source]);
    chat.keys("<Enter>");
    for width in [30, 50, 80] {
        let screen = chat.size(width, 24).screen();
        let rows = screen
            .lines()
            .map(|row| row.trim_start_matches([' ', '\u{2502}']));
        let commands = rows.filter(|row| row.starts_with("command"));
        assert_eq!(commands.count(), 1, "{screen}");
    }
}

#[test]
fn i_in_the_rows_of_the_servers_starts_the_import() {
    let mut chat = chat();
    chat.keys("/mcp<Enter><Tab>i");
    let is_import = |command: &Command| matches!(command, Command::FindImportSources(_));
    assert!(chat.commands().iter().any(is_import));
}
