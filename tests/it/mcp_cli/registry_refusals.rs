//! Registry entries and registries that are refused.

use super::model_server::{ModelServer, Reply};
use super::registry::{LIST, add, home_with_registry, npm, page};
use super::run;
use humble::registry::{Registry, RegistryError};
use serde_json::json;
use std::time::Duration;

#[test]
fn packages_that_could_run_something_else_are_refused() {
    let argument =
        |value: &str| json!({ "packageArguments": [{ "type": "positional", "value": value }] });
    let variable = |name: &str| json!({ "environmentVariables": [{ "name": name, "value": "x" }] });
    for (package, part) in [
        (
            json!({ "identifier": "a; rm -rf ~" }),
            "the name of its npm package is not valid",
        ),
        (json!({ "identifier": "-e" }), "not valid"),
        (json!({ "identifier": "file:../x" }), "not valid"),
        (
            json!({ "identifier": "https://evil.example/x.tgz" }),
            "not valid",
        ),
        (json!({ "version": "latest" }), "no exact version"),
        (json!({ "version": "^1.0.0" }), "no exact version"),
        (json!({ "version": "1.2" }), "no exact version"),
        (json!({ "version": "1.2.3$(id)" }), "no exact version"),
        (json!({ "version": null }), "no exact version"),
        (argument("$(id)"), "shell syntax"),
        (argument("a;b"), "shell syntax"),
        (argument("a\nb"), "shell syntax"),
        (argument("\u{1b}[2J"), "control character"),
        (argument("a|b"), "shell syntax"),
        (argument("${HOME}"), "contains"),
        (
            json!({ "packageArguments": [{ "type": "named", "name": "`id`", "value": "x" }] }),
            "shell syntax",
        ),
        (
            json!({ "runtimeArguments": [{ "type": "named", "name": "--registry", "value": "x" }] }),
            "are not passed on",
        ),
        (
            json!({ "registryType": "oci", "identifier": "i:1", "runtimeArguments": [{ "name": "-v", "value": "/:/h" }] }),
            "are not passed on",
        ),
        (
            json!({ "registryType": "oci", "identifier": "i:latest" }),
            "no fixed version",
        ),
        (
            json!({ "registryType": "mcpb", "identifier": "https://h/x.mcpb" }),
            "an mcpb package is a bundle",
        ),
        (
            json!({ "registryType": "nuget" }),
            "packages of type `nuget` are not supported",
        ),
        (
            json!({ "registryBaseUrl": "https://npm.evil.example" }),
            "is not on https://registry.npmjs.org",
        ),
        (
            json!({ "transport": { "type": "sse", "url": "http://localhost" } }),
            "not started over stdio",
        ),
        (variable("NODE_OPTIONS"), "can change which program runs"),
        (variable("ld_preload"), "can change which program runs"),
        (variable("A B"), "the name of a variable is not valid"),
    ] {
        let (output, entry) = add(&npm(&package), &["--yes"]);
        let output = output.expect(1);
        assert!(output.out.contains(part), "{package}: {output:?}");
        assert!(!output.out.contains('\u{1b}'), "{output:?}");
        assert_eq!(entry, None, "{package}");
    }
}

#[test]
fn bad_answers_of_a_registry_are_explained() {
    let elsewhere = ModelServer::start();
    elsewhere.always_reply(LIST, page(&[], None));
    let large = Reply::status(200).chunk(vec![b' '; (4 << 20) + 1]);
    for (reply, part) in [
        (
            Reply::status(302).header("location", &format!("{}{LIST}", elsewhere.url())),
            "redirects to a different address",
        ),
        (Reply::status(503), "answered with status 503"),
        (
            Reply::status(200).chunk("<html>\u{1b}[2J"),
            "it is not JSON",
        ),
        (
            Reply::json(200, &json!({ "servers": {} })),
            "it has no `servers` list",
        ),
        (
            Reply::status(200).chunk("[".repeat(100_000)),
            "it is not JSON",
        ),
        (large, "is larger than 4 MiB"),
        (Reply::status(200).disconnect(), "is not JSON"),
    ] {
        let registry = ModelServer::start();
        registry.always_reply(LIST, reply);
        let home = home_with_registry(&registry.url());
        let output = run(&home, &["mcp", "search", "x"]).expect(1);
        assert!(output.err.contains(part), "{part}: {output:?}");
        assert!(!output.err.contains('\u{1b}'), "{output:?}");
    }
    assert_eq!(elsewhere.requests().len(), 0);
    let registry = ModelServer::start();
    registry.queue_reply(LIST, Reply::status(302).header("location", "/moved"));
    registry.always_reply("/moved", page(&[], None));
    let home = home_with_registry(&registry.url());
    let output = run(&home, &["mcp", "search", "x"]).expect(0);
    assert_eq!(output.err, "No server matches `x`.\n");
}

/// A mistake in the setting must not send the search to the public registry.
#[test]
fn an_invalid_registry_url_is_an_error() {
    for (url, part) in [
        ("http://registry.example", "must begin with `https://`"),
        ("registry.example", "is not a URL"),
        ("https://me:secret@registry.example", "contains credentials"),
        ("https://registry.example/?a=b", "contains a `?` or `#`"),
    ] {
        let output = run(&home_with_registry(url), &["mcp", "search", "x"]).expect(1);
        assert!(output.err.contains(part), "{url}: {output:?}");
        assert!(!output.err.contains("secret"), "{output:?}");
    }
}

#[tokio::test]
async fn a_registry_that_never_answers_is_abandoned() {
    let server = ModelServer::start();
    server.always_reply(LIST, Reply::status(200).chunk("{").hang());
    let registry = Registry::new(server.url().parse().expect("a URL"));
    let search = tokio::spawn(async move { registry.search("x", 1).await });
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(15)).await;
    let result = search.await.expect("no panic");
    assert!(
        matches!(result, Err(RegistryError::TimedOut { .. })),
        "{result:?}"
    );
}
