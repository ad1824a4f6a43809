//! Values of variables that are stored with a server.

use super::*;
use humble::domain::model::Secret;
use humble::domain::{LaunchConfig, SecretRegistry};

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn stored_variables_are_used_before_those_of_the_environment() {
    let fixture = with_servers(
        r#"{ "mcpServers": { "x": {
        "command": "c", "args": ["${A}", "${HOME}"], "env": { "T": "${TOKEN_1}", "U": "${TOKEN_2}" },
        "variables": { "A": "1 ${A}", "HOME": "/stored", "TOKEN_2": "hidden-2" } } } }"#,
    );
    let read = || {
        config::read_servers_with(&fixture.home, &|_| None)
            .value
            .remove(1)
    };
    let server = read();
    assert_eq!(server.missing_variables, ["TOKEN_1"]);
    let values = [("TOKEN_1".to_owned(), Secret::new("hidden-1"))];
    let id = ServerId::new("x");
    config::set_server_variables(&fixture.home, &id, &values).expect("stored");
    let server = read();
    assert_eq!(server.missing_variables, Vec::<String>::new());
    let LaunchConfig::Stdio { args, env, .. } = &server.launch else {
        panic!("{server:?}");
    };
    assert_eq!(*args, ["1 ${A}", "/stored"]);
    assert_eq!(*env, [pair("T", "hidden-1"), pair("U", "hidden-2")]);
    let secrets = SecretRegistry::default();
    secrets.add(server.config_secrets());
    let text = secrets.redact("<hidden-1> <hidden-2>");
    assert_eq!(text, "<[hidden]> <[hidden]>");
}
