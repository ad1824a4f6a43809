//! The startup text: what the server listens on, and how to add it to a client.

use crate::headless::lines::clean_line;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The folders named on the command line, which a client must name too.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NamedFolders<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) vaults: &'a [PathBuf],
}

pub(super) fn stdio(folders: NamedFolders<'_>) -> String {
    format!(
        "humble serve: serving one MCP client over standard input and output.\n\
         To let a client start the server, add this to the client's settings:\n{}\n\
         For clients over HTTP: humble serve --http",
        stdio_snippet(folders)
    )
}

pub(super) fn http(folders: NamedFolders<'_>, addresses: &[SocketAddr], has_token: bool) -> String {
    let url = base_url(addresses);
    let listening: Vec<String> = addresses
        .iter()
        .map(|address| format!("http://{address}"))
        .collect();
    let token = if has_token {
        "Clients must send the access token."
    } else {
        "Only programs on this machine can connect; no access token is needed."
    };
    let mut server = json!({ "type": "http", "url": format!("{url}/mcp") });
    if has_token {
        server["headers"] = json!({ "Authorization": "Bearer ${HUMBLE_SERVE_TOKEN}" });
    }
    format!(
        "humble serve: listening on {}\n\
         \x20 {url}/mcp        streamable HTTP\n\
         \x20 {url}/sse        HTTP+SSE, for older clients\n\
         \x20 {url}/mcp/tools  plain JSON, with /mcp/tools/call\n\
         {token}\n\
         To add this server to a client:\n{}\n\
         To let a client start the server instead, over standard input and output:\n{}\n\
         Ctrl+C stops the server.",
        listening.join(", "),
        snippet(&server),
        stdio_snippet(folders),
    )
}

/// The address that a client on this machine can use.
fn base_url(addresses: &[SocketAddr]) -> String {
    let Some(address) = addresses.first() else {
        return String::new();
    };
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

fn stdio_snippet(folders: NamedFolders<'_>) -> String {
    let program = std::env::current_exe().ok();
    let program = program.map_or("humble".to_owned(), |path| path.display().to_string());
    let home = folders.home.map(|home| ("--home", home));
    let vaults = folders.vaults.iter().map(|vault| ("--vault", &**vault));
    let mut arguments = vec!["serve".to_owned()];
    for (option, path) in home.into_iter().chain(vaults) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        arguments.extend([option.to_owned(), path.display().to_string()]);
    }
    snippet(&json!({ "command": program, "args": arguments }))
}

fn snippet(server: &Value) -> String {
    let file = json!({ "mcpServers": { "humble": server } });
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    // A path may contain control characters.
    let lines = text.lines().map(|line| {
        let indent = line.len() - line.trim_start().len();
        format!("{}{}", &line[..indent], clean_line(line.trim_start()))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        let parse = |text: &&str| text.parse().expect("an address");
        texts.iter().map(parse).collect()
    }

    /// The JSON objects in a text, each of which begins and ends at the left margin.
    fn snippets(text: &str) -> Vec<Value> {
        let mut found = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line == "{" {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                let json = format!("{{{}}}", body.join("\n"));
                found.push(serde_json::from_str(&json).expect("valid JSON"));
            }
        }
        found
    }

    #[test]
    fn both_snippets_are_valid_json_that_clients_understand() {
        let text = http(
            NamedFolders::default(),
            &addresses(&["127.0.0.1:8080"]),
            false,
        );
        let found = snippets(&text);
        let http = &found[0]["mcpServers"]["humble"];
        assert_eq!(
            *http,
            json!({ "type": "http", "url": "http://127.0.0.1:8080/mcp" })
        );
        let stdio = &found[1]["mcpServers"]["humble"];
        assert_eq!(stdio["args"], json!(["serve"]));
        assert!(
            stdio["command"]
                .as_str()
                .is_some_and(|path| !path.is_empty())
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_server_on_all_addresses_shows_a_usable_address_and_the_token_header() {
        let text = http(
            NamedFolders::default(),
            &addresses(&["0.0.0.0:9000", "[::]:9000"]),
            true,
        );
        assert!(text.contains("listening on http://0.0.0.0:9000, http://[::]:9000\n"));
        let server = &snippets(&text)[0]["mcpServers"]["humble"];
        assert_eq!(server["url"], "http://127.0.0.1:9000/mcp");
        assert_eq!(
            server["headers"]["Authorization"],
            "Bearer ${HUMBLE_SERVE_TOKEN}"
        );
    }

    #[test]
    fn folders_from_the_command_line_are_part_of_the_snippet() {
        let vaults = ["/tmp/노트".into()];
        let folders = NamedFolders {
            home: Some(Path::new("/tmp/h")),
            vaults: &vaults,
        };
        let text = stdio(folders);
        let args = &snippets(&text)[0]["mcpServers"]["humble"]["args"];
        let expected = json!(["serve", "--home", "/tmp/h", "--vault", "/tmp/노트"]);
        assert_eq!(*args, expected);
    }
}
