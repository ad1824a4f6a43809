//! Snapshots of importing MCP servers from other clients: the clients, and the servers of one.

use super::at_two_sizes;
use crate::support::screen_harness::ScreenHarness;
use crossterm::event::KeyCode;
use humble::domain::server::RemoteTransport;
use humble::domain::{
    ImportPlan, ImportSource, NewServer, NewServerLaunch, QueryId, ServerCandidate, SkippedServer,
};
use humble::protocol::Event;
use std::sync::Arc;

fn candidate(name: &str, launch: NewServerLaunch, remark: &str) -> ServerCandidate {
    ServerCandidate {
        server: NewServer {
            name: name.to_owned(),
            description: None,
            enabled: false,
            launch,
            values: Vec::new(),
        },
        replaced_secrets: Vec::new(),
        remarks: vec![remark.to_owned()],
    }
}

fn cursor_plan() -> ImportPlan {
    let weather = NewServerLaunch::Command {
        command: "npx".to_owned(),
        args: ["-y", "weather", "서울 날씨", "\u{202e}"]
            .map(str::to_owned)
            .to_vec(),
        env: vec![("API_KEY".to_owned(), "${API_KEY}".to_owned())],
        cwd: None,
    };
    let docs = NewServerLaunch::Url {
        url: "https://example.com/mcp".to_owned(),
        transport: RemoteTransport::Http,
        headers: vec![(
            "Authorization".to_owned(),
            "Bearer ${DOCS_AUTHORIZATION}".to_owned(),
        )],
    };
    ImportPlan {
        candidates: vec![
            candidate("날씨", weather, "`disabledTools` is not imported."),
            candidate(
                "docs-2",
                docs,
                "Renamed, because `docs` is taken by a different server.",
            ),
        ],
        skipped: vec![SkippedServer {
            name: "wiki".to_owned(),
            reason: "you already have it".to_owned(),
            is_already_there: true,
        }],
    }
}

fn list_clients(story: &mut ScreenHarness) {
    let source = |client: &str, file: &str, plan| ImportSource {
        client: client.to_owned(),
        files: vec![file.into()],
        plan,
    };
    let broken = "~/.codeium/windsurf/mcp_config.json is not valid JSON.".to_owned();
    let sources = vec![
        source("Cursor", "/home/me/.cursor/mcp.json", Ok(cursor_plan())),
        source(
            "Windsurf",
            "/home/me/.codeium/windsurf/mcp_config.json",
            Err(broken),
        ),
        source(
            "Zed",
            "/home/me/.config/zed/settings.json",
            Ok(ImportPlan::default()),
        ),
    ];
    story.types("/import").key(KeyCode::Enter);
    story.event(Event::ImportSourcesFound {
        query: QueryId(1),
        sources: Arc::new(sources),
    });
}

#[test]
fn clients_with_servers() {
    insta::assert_snapshot!(at_two_sizes(list_clients));
}

#[test]
fn servers_of_a_client() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        list_clients(story);
        story.key(KeyCode::Enter);
    }));
}

#[test]
fn no_client_has_servers() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.types("/import").key(KeyCode::Enter);
        story.event(Event::ImportSourcesFound {
            query: QueryId(1),
            sources: Arc::default(),
        });
    }));
}
