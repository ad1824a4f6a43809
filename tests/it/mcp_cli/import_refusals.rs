//! `humble mcp import`: files and servers that are refused.

use super::TestHome;
use super::import::{import, servers, write};
use std::fs;

/// Each file is refused with a short message, and nothing is written.
#[test]
fn an_import_refuses_unusable_files() {
    let home = TestHome::empty();
    let server = r#"{ "command": "x" }"#;
    let many: Vec<String> = (0..10_000)
        .map(|index| format!("\"s{index}\": {server}"))
        .collect();
    let aliases = "a: &a [x, x]\nextensions:\n  b: *a\n";
    let long_name = format!(
        "{{ \"mcpServers\": {{ \"{}\": {server} }} }}",
        "n".repeat(1 << 20)
    );
    let padded = |bytes: usize| format!("{{ \"mcpServers\": {{}} }}{}", " ".repeat(bytes));
    let files: [(&str, String, &str); 13] = [
        (
            "large",
            padded(50 << 20),
            "is larger than 32 MiB, the limit",
        ),
        (
            "values",
            format!("[{}1]", "1,".repeat(3 << 20)),
            "has more than 2000000 values",
        ),
        (
            "many",
            format!("{{ \"mcpServers\": {{ {} }} }}", many.join(",")),
            "lists 10000 servers",
        ),
        ("long-name", long_name, "There is nothing to add."),
        ("binary", "{\0}".to_owned(), "is not a UTF-8 text file"),
        ("empty", String::new(), "lists no MCP servers"),
        (
            "other",
            "{ \"servers\": [] }".to_owned(),
            "lists no MCP servers",
        ),
        (
            "broken",
            "{ \"mcpServers\": { }".to_owned(),
            "line 1: not valid JSON",
        ),
        ("deep", "[".repeat(1 << 20), "not valid TOML"),
        ("deep.json", "[".repeat(1 << 20), "not valid JSON"),
        (
            "deep-json",
            format!("{{\"a\":{}", "[".repeat(1 << 20)),
            "not valid JSON",
        ),
        ("aliases", aliases.to_owned(), "anchors and aliases"),
        ("list", "- a\n- b\n".to_owned(), "lists no MCP servers"),
    ];
    for (name, text, part) in &files {
        write(&home, name, text);
        let output = import(&home, &[name, "--yes"]).expect(1);
        assert!(
            output.err.contains(part),
            "{name}: {}",
            &output.err[..output.err.len().min(500)]
        );
        assert!(output.err.len() + output.out.len() < 2_000, "{name}");
    }
    assert!(!home.path().join("mcp-servers.json").exists());
}

#[test]
fn paths_without_a_regular_file_are_refused() {
    let home = TestHome::empty();
    fs::create_dir(home.path().join("folder")).expect("a folder");
    let link = |name: &str, target: &str| {
        std::os::unix::fs::symlink(target, home.path().join(name)).expect("a link");
    };
    link("cycle", "cycle");
    link("to-device", "/dev/zero");
    link("to-folder", "folder");
    link("dangling", "nowhere");
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    for (name, part) in [
        ("folder", "it is a folder"),
        ("cycle", "its symbolic links form a cycle"),
        ("to-device", "it is not a regular file"),
        ("to-folder", "it is a folder"),
        ("dangling", "does not exist"),
        ("pipe", "it is not a regular file"),
        ("../none.json", "does not exist"),
    ] {
        let output = import(&home, &[name, "--yes"]).expect(1);
        assert!(output.err.contains(part), "{name}: {}", output.err);
    }
    assert!(!home.path().join("mcp-servers.json").exists());
}

#[test]
fn an_import_skips_unusable_servers_with_the_reason() {
    let home = TestHome::empty();
    let text = r#"{ "mcpServers": {
        "good": { "command": "x" }, "both": { "command": "x", "url": "https://h/" }, "neither": {},
        "number": 1, "scheme": { "url": "ftp://h/" }, "variable": { "command": "${env:HOME}/x" },
        " a\u001b ": { "command": "x" }, "args": { "command": "x", "args": [[]] }, "nul": { "command": "x\u0000" },
        "control": { "url": "https://exa\nmple.com/" }, "variable-name": { "command": "x", "env": { "A=B": "c" } }
    } }"#;
    write(&home, "f", text);
    let output = import(&home, &["f", "--yes"]).expect(0);
    for line in [
        "Skipped both: it has both a command and a URL.",
        "Skipped neither: it has neither a command nor a URL.",
        "Skipped number: it is not an object.",
        "Skipped scheme: `url` must begin with `http://` or `https://`.",
        "Skipped variable: its command contains a variable, which is not replaced there.",
        "Skipped args: `args` is not an array of strings.",
        "Skipped nul: a value contains a NUL character.",
        "Skipped control: its URL contains a control character.",
        "Skipped variable-name: the name of a variable or header is not valid.",
    ] {
        assert!(
            output.out.to_lowercase().contains(&line.to_lowercase()),
            "{line}\n{}",
            output.out
        );
    }
    assert!(!output.out.contains('\u{1b}'), "{}", output.out);
    let added = servers(&home);
    assert_eq!(added.as_object().map(serde_json::Map::len), Some(1));
}
