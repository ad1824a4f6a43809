//! `humble mcp search`, and `humble mcp add NAMESPACE/NAME`.

use super::import::{AddOptions, add_planned, with_built_in};
use super::output::{print, print_to_stderr, stdout_columns};
use crate::cli::mcp::{AddArgs, SearchArgs, TransportArg};
use crate::config::{self, Home};
use crate::domain::registry::namespace_owner;
use crate::domain::server::RemoteTransport;
use crate::headless::mcp::{candidates as render, clean_line, notice_line};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use crate::import::{self, FoundServer};
use crate::registry::{Registry, RegistryServer};
use anyhow::Result;

pub(super) fn refers_to_registry(args: &AddArgs) -> bool {
    args.url.is_none() && args.command.is_empty() && args.name.contains('/')
}

/// The configured registry. `None`, after printing the problems, if the setting is invalid or the
/// settings cannot be used.
fn configured_registry(home: &Home) -> Option<Registry> {
    let settings = config::read_settings(home);
    if let Some(url) = settings
        .value
        .registry_url
        .filter(|_| !settings.is_unusable)
    {
        return Some(Registry::new(url));
    }
    for banner in &settings.banners {
        print_to_stderr(&notice_line(&banner.notice));
    }
    None
}

/// Runs `humble mcp search` and returns the exit status.
///
/// # Errors
/// The result could not be written.
pub async fn run_search(home: &Home, args: SearchArgs) -> Result<u8> {
    let Some(registry) = configured_registry(home) else {
        return Ok(EXIT_FAILED);
    };
    let (found, has_more) = match registry.search(&args.word, usize::from(args.limit)).await {
        Ok(found) => found,
        Err(error) => {
            print_to_stderr(&clean_line(&error.to_string()));
            return Ok(EXIT_FAILED);
        }
    };
    let listings: Vec<_> = found.iter().map(RegistryServer::listing).collect();
    if args.json {
        print(render::listings_json(&listings))?;
    } else if listings.is_empty() {
        print_to_stderr(&clean_line(&format!("No server matches `{}`.", args.word)));
    } else {
        print(render::render_listings(&listings, stdout_columns()))?;
        if has_more {
            let shown = match listings.len() {
                1 => "match is".to_owned(),
                count => format!("{count} matches are"),
            };
            print_to_stderr(&format!(
                "Only the first {shown} shown; --limit N shows more."
            ));
        }
        print_to_stderr(
            "Nobody has reviewed these servers. To add one: humble mcp add NAMESPACE/NAME",
        );
    }
    Ok(EXIT_SUCCESS)
}

/// Runs `humble mcp add NAMESPACE/NAME` and returns the exit status.
///
/// # Errors
/// The result could not be written, or the user's answer could not be read.
pub async fn run_registry_add(home: &Home, args: AddArgs) -> Result<u8> {
    if !args.headers.is_empty() || !args.env.is_empty() || args.cwd.is_some() {
        print_to_stderr("--header, --env and --cwd need --url or a command.");
        return Ok(EXIT_USAGE);
    }
    let Some(registry) = configured_registry(home) else {
        return Ok(EXIT_FAILED);
    };
    let server = match registry.find(&args.name).await {
        Ok(server) => server,
        Err(error) => {
            print_to_stderr(&clean_line(&error.to_string()));
            return Ok(EXIT_FAILED);
        }
    };
    let transport = args.transport.map(|transport| match transport {
        TransportArg::Sse => RemoteTransport::Sse,
        TransportArg::Http => RemoteTransport::Http,
    });
    let existing = match config::written_launches(home) {
        Ok(existing) => with_built_in(existing),
        Err(error) => {
            print_to_stderr(&notice_line(&error.notice()));
            return Ok(EXIT_FAILED);
        }
    };
    let mut candidate = server.candidate(transport);
    if let (Ok(candidate), Some(description)) = (&mut candidate, args.description) {
        candidate.server.description = Some(description);
    }
    let found = vec![FoundServer {
        name: server.name.clone(),
        result: candidate,
    }];
    let plan = import::plan_import(found, &existing, |server| {
        config::preview_server(server).map(drop)
    });
    if !args.json {
        let owner = namespace_owner(&server.name).unwrap_or_default();
        let listing = server.listing();
        let deprecated = if listing.is_deprecated {
            ", deprecated"
        } else {
            ""
        };
        print_to_stderr(&clean_line(&format!(
            "{} {}{deprecated}, published by {owner}. Nobody has reviewed it.",
            server.name, server.version
        )));
    }
    add_planned(home, &plan, &AddOptions::new(args.yes, args.json))
}
