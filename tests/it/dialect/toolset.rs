//! Resolution of the tool names that models write.

use crate::dialect::scan_every_way::tool;
use crate::dialect::tool_prompt::server;
use humble::domain::{ToolLookup, Toolset};
use std::collections::HashSet;

fn resolved(toolset: &Toolset, server: Option<&str>, name: &str) -> String {
    match toolset.resolve(server, name) {
        ToolLookup::Tool(tool) => format!("{}/{}", tool.server, tool.tool.name),
        ToolLookup::Ambiguous(_) => "ambiguous".to_owned(),
        ToolLookup::Unknown => "unknown".to_owned(),
    }
}

#[test]
fn tool_names_are_resolved_as_models_write_them() {
    let toolset = Toolset::from_servers(&[
        server("fs", &[tool("list", &[]), tool("read.file", &[])]),
        server("web", &[tool("list", &[]), tool("get", &[])]),
    ]);
    for (server, name, expected) in [
        (None, "get", "web/get"),
        (None, "list", "ambiguous"),
        (Some("fs"), "list", "fs/list"),
        (Some(""), "get", "web/get"),
        (Some("fs"), "get", "unknown"),
        (Some("elsewhere"), "get", "unknown"),
        (None, "fs__list", "fs/list"),
        (Some("fs"), "fs__list", "fs/list"),
        (None, "web.list", "web/list"),
        (None, "functions.get:0", "web/get"),
        (None, "functions.fs__list:3", "fs/list"),
        (None, "get<|channel|>commentary", "web/get"),
        (None, "functions.get<|constrain|>json", "web/get"),
        (None, "fs__list <|channel|>", "fs/list"),
        (None, " get\n", "web/get"),
        (None, "<|channel|>get", "unknown"),
        (None, "read.file", "fs/read.file"),
        (None, "fs__read.file", "fs/read.file"),
        (None, "Get", "unknown"),
        (None, "", "unknown"),
    ] {
        assert_eq!(
            resolved(&toolset, server, name),
            expected,
            "{server:?} {name}"
        );
    }
}

#[test]
fn the_users_own_servers_take_precedence_over_the_built_in_one() {
    let toolset = Toolset::from_servers(&[
        server("humble", &[tool("get_weather", &[]), tool("get_time", &[])]),
        server("web", &[tool("get_weather", &[]), tool("fetch", &[])]),
        server("air", &[tool("get_weather", &[]), tool("get_time", &[])]),
    ]);
    for (server, name, expected) in [
        (None, "get_time", "air/get_time"),
        (None, "functions.get_time:0", "air/get_time"),
        (Some("humble"), "get_time", "humble/get_time"),
        (None, "humble__get_time", "humble/get_time"),
        (None, "get_weather", "ambiguous"),
        (Some("humble"), "get_weather", "humble/get_weather"),
    ] {
        assert_eq!(resolved(&toolset, server, name), expected, "{name}");
    }
    let servers = toolset.servers_of("get_weather");
    assert_eq!(servers, ["web".into(), "air".into()]);
}

#[test]
fn a_name_with_two_readings_is_ambiguous() {
    let toolset = Toolset::from_servers(&[
        server("a", &[tool("b.c", &[])]),
        server("a.b", &[tool("c", &[])]),
    ]);
    assert_eq!(resolved(&toolset, None, "a.b.c"), "ambiguous");
}

#[test]
fn native_names_are_unique_short_and_made_of_allowed_characters() {
    let long = "x".repeat(100);
    let toolset = Toolset::from_servers(&[
        server(
            "a",
            &[
                tool("b__c__d", &[]),
                tool("날씨", &[]),
                tool("time", &[]),
                tool(&long, &[]),
            ],
        ),
        server("a__b", &[tool("c__d", &[])]),
        server("a__b__c", &[tool("d", &[])]),
        server("ö", &[tool("x", &[])]),
        server("ä", &[tool("x", &[])]),
    ]);
    let names: HashSet<_> = toolset
        .tools()
        .iter()
        .map(|tool| &tool.native_name)
        .collect();
    assert_eq!(names.len(), toolset.tools().len());
    for tool in toolset.tools() {
        let name = &tool.native_name;
        assert!(name.len() <= 64, "{name}");
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
            "{name}"
        );
        assert_eq!(
            toolset.resolve(None, name),
            ToolLookup::Tool(tool),
            "{name}"
        );
    }
}
