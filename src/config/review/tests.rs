//! Compares files before and after an edit. In the expected descriptions, `=` marks changes that
//! apply at once and `?` those that need consent.

use super::*;
use crate::config::Home;
use crate::config::snapshot::ConfigLoad;
use serde_json::{Value, json};
use std::fs;

pub fn read(config: &Value, servers: &Value) -> ConfigSnapshot {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    fs::write(home.config(), config.to_string()).unwrap();
    fs::write(home.servers(), servers.to_string()).unwrap();
    ConfigLoad::from_files(&home).snapshot
}

pub fn config(value: &Value) -> ConfigSnapshot {
    read(value, &json!({}))
}

fn models(entries: &Value) -> ConfigSnapshot {
    config(&json!({ "models": entries }))
}

fn servers(entries: &Value) -> ConfigSnapshot {
    read(&json!({}), &json!({ "mcpServers": entries }))
}

fn descriptions(changes: &[SettingsChange]) -> Vec<String> {
    let lines = changes.iter().map(|change| match change.impact {
        ChangeImpact::Harmless => format!("= {}", change.what),
        ChangeImpact::NeedsConsent => {
            let value = |value: &Option<String>| value.clone().unwrap_or("(none)".to_owned());
            let (old, new) = (value(&change.before), value(&change.after));
            format!("? {}: {old} -> {new}", change.what)
        }
    });
    lines.collect()
}

/// Descriptions of the changes from `before` to `after`. Checks that applying the harmless ones
/// leaves only those that need consent.
pub fn described_changes(before: &ConfigSnapshot, after: &ConfigSnapshot) -> Vec<String> {
    let mut earlier = EarlierEntries::default();
    earlier.record(before);
    let review = review_changes(before, after, &earlier);
    let needing_consent = review.changes_with_impact(ChangeImpact::NeedsConsent);
    let remaining = review_changes(&review.with_harmless_changes, after, &earlier);
    assert_eq!(
        remaining.changes, needing_consent,
        "harmless changes are not applied"
    );
    review.changes.iter().for_each(|change| {
        assert!(change.file == CONFIG || change.file == SERVERS);
    });
    descriptions(&review.changes)
}

#[test]
fn loosened_settings_need_consent_and_tightened_ones_do_not() {
    let loosened = config(&json!({
        "toolCallMode": "auto", "logLevel": "debug",
        "limits": { "toolRounds": 20, "errorsPerTurn": 3, "idleSeconds": 9 },
    }));
    let defaults = config(&json!({}));
    let expected = [
        "= logLevel is now debug",
        "? `toolCallMode`: tools would run without asking: manual -> auto",
        "? `limits.toolRounds`: 10 -> 20",
        "? `limits.errorsPerTurn`: 1 -> 3",
        "= limits.idleSeconds is now 9",
    ];
    assert_eq!(described_changes(&defaults, &loosened), expected);
    let expected = [
        "= logLevel is now info",
        "= toolCallMode is now manual",
        "= limits.toolRounds is now 10",
        "= limits.errorsPerTurn is now 1",
        "= limits.idleSeconds is now 120",
    ];
    assert_eq!(described_changes(&loosened, &defaults), expected);
    assert_eq!(described_changes(&loosened, &loosened), [""; 0]);
}

#[test]
fn keys_that_answer_questions_need_consent() {
    let keys = |keys: Value| config(&json!({ "keys": keys }));
    let defaults = config(&json!({}));
    let palette = keys(json!({ "commands": "Ctrl+K" }));
    assert_eq!(
        described_changes(&defaults, &palette),
        ["= the keys changed"]
    );
    let swapped = keys(json!({ "commands": "Ctrl+K", "answer.yes": "n", "answer.no": ["y"] }));
    let expected = ["? `keys`: answers to questions: (none) -> answer.yes: n\nanswer.no: y"];
    assert_eq!(described_changes(&palette, &swapped), expected);
    let expected = ["? `keys`: answers to questions: answer.yes: n\nanswer.no: y -> (none)"];
    assert_eq!(described_changes(&swapped, &palette), expected);
    let deletion = keys(json!({ "confirm.yes": "k" }));
    let expected = ["? `keys`: answers to questions: (none) -> confirm.yes: k"];
    assert_eq!(described_changes(&defaults, &deletion), expected);
}

#[test]
fn changes_that_could_redirect_a_model_need_consent_and_others_do_not() {
    let entry = |extra: Value| {
        let mut entry = json!({ "name": "m", "provider": "openai", "apiKey": "sk-11112222" });
        let extra = extra.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(extra);
        models(&json!([entry]))
    };
    let plain = entry(json!({}));
    let cases = [
        (json!({ "model": "n" }), "? model `m`, `model`: m -> n"),
        (
            json!({ "baseUrl": "https://me:pass@h.example/v1" }),
            "? model `m`, `baseUrl`: https://api.openai.com/v1 -> \
             https://me:(hidden,%204%20characters)@h.example/v1",
        ),
        (
            json!({ "apiKey": "sk-33334444" }),
            "? model `m`, `apiKey`: (hidden, 11 characters) -> (hidden, 11 characters), a different one",
        ),
        (
            json!({ "caFile": "/tmp/ca.pem" }),
            "? model `m`, `caFile`: none -> /tmp/ca.pem",
        ),
        (
            json!({ "options": { "store": true } }),
            "? model `m`, `options`: {} -> {\"store\":true}",
        ),
        (
            json!({ "active": true }),
            "= new instances start with model `m`",
        ),
        (
            json!({ "contextLength": 9 }),
            "= model `m` has a different contextLength",
        ),
        (
            json!({ "think": true }),
            "= model `m` has a different think",
        ),
        (
            json!({ "toolCalls": "prompt" }),
            "= model `m` has a different toolCalls",
        ),
        (
            json!({ "toolRole": "user" }),
            "= model `m` has a different toolRole",
        ),
        (
            json!({ "keepAlive": "5m" }),
            "= model `m` has a different keepAlive",
        ),
    ];
    for (extra, expected) in cases {
        assert_eq!(described_changes(&plain, &entry(extra)), [expected]);
    }
    // If one part needs consent, the whole entry does.
    let both = entry(json!({ "model": "n", "think": true }));
    assert_eq!(
        described_changes(&plain, &both),
        ["? model `m`, `model`: m -> n"]
    );
    let ollama = |options: Value| {
        models(&json!([{ "name": "o", "provider": "ollama", "options": options }]))
    };
    let changes = described_changes(&ollama(json!({})), &ollama(json!({ "top_k": 1 })));
    assert_eq!(changes, ["= model `o` has different options"]);
}

#[test]
fn adding_or_removing_a_model_is_harmless_but_reusing_a_name_needs_consent() {
    let one = json!({ "name": "one", "provider": "ollama" });
    let two = json!({ "name": "two", "provider": "ollama" });
    let impostor = json!({ "name": "one", "provider": "ollama", "baseUrl": "http://evil.example" });
    let before = models(&json!([one]));
    let changes = described_changes(&before, &models(&json!([two, one])));
    assert_eq!(changes, ["= model `two` was added"]);
    let changes = described_changes(&before, &models(&json!([two])));
    assert_eq!(
        changes,
        ["= model `two` was added", "= model `one` was removed"]
    );
    let redirected = "? model `one`, `baseUrl`: http://localhost:11434 -> http://evil.example";
    // The name is reused in one edit, in two edits, and by a duplicate before the original.
    assert_eq!(
        described_changes(&before, &models(&json!([impostor]))),
        [redirected]
    );
    let mut earlier = EarlierEntries::default();
    earlier.record(&before);
    let without_models = models(&json!([]));
    earlier.record(&without_models);
    let review = review_changes(&without_models, &models(&json!([impostor])), &earlier);
    assert_eq!(descriptions(&review.changes), [redirected]);
    assert_eq!(review.with_harmless_changes.settings.models, []);
    let both = review_changes(&before, &models(&json!([impostor, one])), &earlier);
    assert!(descriptions(&both.changes).contains(&redirected.to_owned()));
    let urls = both
        .with_harmless_changes
        .settings
        .models
        .iter()
        .map(|model| &model.base_url);
    assert!(urls.into_iter().all(|url| url == "http://localhost:11434"));
}

#[test]
fn launch_fields_of_a_server_need_consent_and_harmless_fields_do_not() {
    let entry = |extra: Value| {
        let mut entry =
            json!({ "command": "/bin/npx", "args": ["-y"], "env": { "A_TOKEN": "s3cret" } });
        let extra = extra.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(extra);
        servers(&json!({ "fs": entry }))
    };
    let plain = entry(json!({}));
    let cases = [
        (
            json!({ "command": "/bin/sh" }),
            "? server `fs`, `command`: /bin/npx -> /bin/sh",
        ),
        (
            json!({ "args": ["-y", "/a\nb"] }),
            "? server `fs`, `args`: [\"-y\"] -> [\"-y\",\"/a\\nb\"]",
        ),
        (
            json!({ "env": { "A_TOKEN": "s3cret", "B": "x\ny" } }),
            "? server `fs`, `env`: A_TOKEN=(hidden, 6 characters) -> \
             A_TOKEN=(hidden, 6 characters)\nB=x⟨LF⟩y",
        ),
        (
            json!({ "env": { "A_TOKEN": "0ther!" } }),
            "? server `fs`, `env`: A_TOKEN=(hidden, 6 characters) -> \
             A_TOKEN=(hidden, 6 characters)\n(with a different hidden value)",
        ),
        (json!({ "cwd": "/tmp" }), "? server `fs`, `cwd`:  -> /tmp"),
        (
            json!({ "inheritEnv": ["HOME"] }),
            "? server `fs`, `inheritEnv`:  -> HOME",
        ),
        (
            json!({ "inheritEnv": true }),
            "? server `fs`, `inheritEnv`:  -> true: every variable",
        ),
        (json!({ "enabled": false }), "= server `fs` is now off"),
        (
            json!({ "toolsOff": ["rm"] }),
            "= server `fs`, tools switched off: rm",
        ),
        (
            json!({ "description": "d" }),
            "= server `fs` has a different description",
        ),
        (
            json!({ "toolTimeoutSeconds": 5 }),
            "= server `fs` has a different toolTimeoutSeconds",
        ),
        (
            json!({ "args": 5 }),
            "= server `fs` is misconfigured: `args` is 5, expected a list of strings",
        ),
    ];
    for (extra, expected) in cases {
        assert_eq!(described_changes(&plain, &entry(extra)), [expected]);
    }
    let off = entry(json!({ "enabled": false, "toolsOff": ["rm", "mv"] }));
    let on = [
        "? server `fs`, `enabled`: false -> true\ncommand: /bin/npx\nargs: [\"-y\"]\n\
         env: A_TOKEN=(hidden, 6 characters)",
        "? server `fs`, `toolsOff`: tools would be switched on: (none) -> mv, rm",
    ];
    assert_eq!(described_changes(&off, &plain), on);
}

#[test]
fn every_launch_field_of_a_remote_server_needs_consent() {
    let remote = |extra: Value| {
        let mut entry = json!({ "url": "https://h.example/mcp?token=abc" });
        let extra = extra.as_object().unwrap().clone();
        entry.as_object_mut().unwrap().extend(extra);
        servers(&json!({ "r": entry }))
    };
    let cases = [
        (json!({ "url": "https://h.example/mcp?token=abcd" }), "url"),
        (json!({ "transport": "http" }), "transport"),
        (
            json!({ "headers": { "Authorization": "Bearer x" } }),
            "headers",
        ),
    ];
    for (extra, field) in cases {
        let changes = described_changes(&remote(json!({})), &remote(extra));
        let is_asked =
            changes.len() == 1 && changes[0].starts_with(&format!("? server `r`, `{field}`"));
        assert!(
            is_asked && !changes[0].contains("Bearer x") && !changes[0].contains("abc"),
            "{changes:?}"
        );
    }
}

#[test]
fn a_new_enabled_server_needs_consent_and_a_broken_one_may_be_repaired() {
    let none = servers(&json!({}));
    let on = servers(&json!({ "x": { "command": "/bin/sh", "args": ["-c", "/id"] } }));
    let off = servers(&json!({ "x": { "command": "/bin/sh", "enabled": false } }));
    let changes = described_changes(&none, &on);
    let expected = "? new server `x`, on: (none) -> command: /bin/sh\nargs: [\"-c\",\"/id\"]";
    assert_eq!(changes, [expected]);
    assert_eq!(described_changes(&none, &off), ["= server `x` was added"]);
    assert_eq!(described_changes(&on, &none), ["= server `x` was removed"]);
    let renamed = servers(&json!({ "y": { "command": "/bin/sh", "args": ["-c", "/id"] } }));
    let changes = described_changes(&on, &renamed);
    assert_eq!(changes[1..], ["= server `x` was removed"]);
    assert!(
        changes[0].starts_with("? new server `y`, on"),
        "{changes:?}"
    );

    let mut earlier = EarlierEntries::default();
    earlier.record(&on);
    let broken = servers(&json!({ "x": { "command": "/bin/sh", "args": "id" } }));
    earlier.record(&broken);
    let repaired = review_changes(&broken, &on, &earlier);
    assert_eq!(
        descriptions(&repaired.changes),
        ["= server `x` is valid again"]
    );
    let other = servers(&json!({ "x": { "command": "/bin/sh", "args": ["-c", "/rm"] } }));
    let expected = ["? server `x`, `args`: [\"-c\",\"/id\"] -> [\"-c\",\"/rm\"]"];
    assert_eq!(
        descriptions(&review_changes(&broken, &other, &earlier).changes),
        expected
    );
    // The server was removed and added back with a different command, which would run once the
    // server is switched on.
    earlier.record(&none);
    let changes = descriptions(&review_changes(&none, &off, &earlier).changes);
    assert_eq!(
        changes,
        ["? new server `x`, off: (none) -> command: /bin/sh\nargs: []"]
    );
}

#[test]
fn every_prompt_and_persona_change_needs_consent() {
    let persona = |text: &str| Persona {
        name: "p".to_owned(),
        description: "a".to_owned(),
        text: Ok(text.to_owned()),
        tools: None,
    };
    let before = ConfigSnapshot {
        system_prompt: "one\ntwo\nthree\n".to_owned(),
        personas: vec![persona("Be kind.")],
        ..ConfigSnapshot::default()
    };
    let mut after = before.clone();
    after.system_prompt = "one\n2\nand a half\nthree\n".to_owned();
    after.personas = vec![persona("Be cruel.")];
    let review = review_changes(&before, &after, &EarlierEntries::default());
    assert_eq!(review.with_harmless_changes, before);
    let expected = [
        "? the system prompt: two -> 2\nand a half",
        "? the persona: Be kind. -> Be cruel.",
    ];
    assert_eq!(descriptions(&review.changes), expected);
    let empty = review_changes(
        &before,
        &ConfigSnapshot::default(),
        &EarlierEntries::default(),
    );
    let expected = [
        "? the system prompt: one\ntwo\nthree -> (none)",
        "? the persona was removed: description: a\ntools: all\nBe kind. -> (none)",
    ];
    assert_eq!(descriptions(&empty.changes), expected);
    // A difference only in line endings is visible.
    after = before.clone();
    after.system_prompt = "one\r\ntwo\nthree\n".to_owned();
    let review = review_changes(&before, &after, &EarlierEntries::default());
    assert_eq!(
        descriptions(&review.changes),
        ["? the system prompt: one -> one\r"]
    );
}
