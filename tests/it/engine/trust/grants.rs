//! Every way in which a grant must not carry over, and every way in which it must.

use super::*;

/// What a person decided in an earlier run, and what is done to the home since.
async fn asks_after(decision: Decision, change: impl FnOnce(&mut TrustFixture)) -> bool {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(decision).await;
    let mut place = EngineHarness::find_text(bench.shut_down().await);
    assert_eq!(place.called(), ["echo"], "it ran once it was granted");
    change(&mut place);
    let folder = place.folder();
    let before = called_tools(&folder).len();
    let mut bench = place.start(echo_script()).await;
    let asked = bench.call_needs_approval().await;
    let ran = called_tools(&folder).len() > before;
    assert_eq!(ran, !asked, "it runs unless it asks");
    bench.shut_down().await;
    asked
}

/// Grants that are remembered, each of which covers the call.
fn remembered() -> Vec<Decision> {
    let pattern = json!({ "path": "src/*.rs" });
    let pattern = ArgumentPattern::from_json(pattern.as_object().expect("an object"));
    vec![
        Decision::RunAlways,
        Decision::RunWholeServer,
        Decision::RunMatching {
            pattern: pattern.expect("a pattern"),
        },
    ]
}

macro_rules! carries_over {
    ($($name:ident: $change:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            for decision in remembered() {
                let change: fn(&mut TrustFixture) = $change;
                assert!(!asks_after(decision.clone(), change).await, "{decision:?}");
            }
        }
    )*};
}

macro_rules! does_not_carry_over {
    ($($name:ident: $change:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            for decision in remembered() {
                let change: fn(&mut TrustFixture) = $change;
                assert!(asks_after(decision.clone(), change).await, "{decision:?}");
            }
        }
    )*};
}

carries_over! {
    a_grant_survives_a_restart: |_| {};
    a_grant_survives_another_description_of_the_entry: |place| {
        place.edit_server_entry("fs", |entry| entry["description"] = json!("Files."));
    };
    a_grant_survives_another_time_out: |place| {
        place.edit_server_entry("fs", |entry| entry["toolTimeoutSeconds"] = json!(7));
    };
    a_grant_survives_another_order_of_keys_in_a_definition: |place| {
        let schema = json!({ "properties": { "path": { "type": "string" } }, "type": "object" });
        let echo = json!({ "inputSchema": schema, "description": "Echoes.", "name": "echo" });
        set_tools(&place.folder(), &json!([tool("write", "Writes."), echo]));
    };
    a_grant_survives_another_place_in_the_file: |place| {
        let file = json!({ "mcpServers": { "fs": place.entry, "humble": { "enabled": true } } });
        fs::write(place.home.path().join("mcp-servers.json"), file.to_string()).expect("written");
    };
    a_grant_survives_another_tool_being_switched_off: |place| {
        place.edit_server_entry("fs", |entry| entry["toolsOff"] = json!(["write"]));
    };
    a_grant_survives_empty_variables: |place| {
        place.edit_server_entry("fs", |entry| entry["env"] = json!({}));
    };
}

does_not_carry_over! {
    another_command_is_another_server: |place| {
        place.edit_server_entry("fs", |entry| entry["command"] = json!("/bin/sh"));
    };
    other_arguments_are_another_server: |place| {
        place.edit_server_entry("fs", |entry| {
            entry["args"].as_array_mut().expect("a list").push(json!("--more"));
        });
    };
    another_variable_is_another_server: |place| {
        place.edit_server_entry("fs", |entry| entry["env"] = json!({ "A": "1" }));
    };
    another_folder_is_another_server: |place| {
        place.edit_server_entry("fs", |entry| entry["cwd"] = json!("/"));
    };
    a_definition_that_was_accepted_anew_asks: |place| {
        set_tools(&place.folder(), &definitions("Echoes, and more."));
        // As if the person had accepted it.
        let file = place.home.path().join("trust.json");
        let mut trust = read(&file);
        trust.as_object_mut().expect("an object").shift_remove("pins");
        fs::write(file, trust.to_string()).expect("written");
    };
    the_trust_of_another_home_is_not_this_ones: |place| {
        fs::remove_file(place.home.path().join("trust.json")).expect("it was there");
    };
}

#[tokio::test]
async fn a_name_that_another_server_took_is_not_trusted() {
    for decision in remembered() {
        let asked = asks_after(decision, |place| {
            let other = place.home.path().join("other");
            place.entry = install(&other, &definitions("Echoes."));
            place.edit_server_entry("fs", |_| {});
        });
        assert!(asked.await);
    }
}

#[tokio::test]
async fn a_server_under_another_name_is_not_trusted() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    let mut place = EngineHarness::find_text(bench.shut_down().await);
    place.edit_server_entry("files", |_| {});
    let script = Script::default()
        .answer(&call_of("files", "echo", "src/a.rs"))
        .answer("Done.");
    let mut bench = place.start(script).await;
    assert!(bench.call_needs_approval().await);
}

#[tokio::test]
async fn a_tool_that_a_server_adds_later_is_not_covered_by_the_grant_for_the_server() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunWholeServer).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    let tools = json!([
        tool("echo", "Echoes."),
        tool("write", "Writes."),
        tool("rm", "Removes.")
    ]);
    set_tools(&place.folder(), &tools);
    let folder = place.folder();
    let script = Script::default()
        .answer(&call_of("fs", "write", "x"))
        .answer("Done.")
        .answer(&call_of("fs", "rm", "x"))
        .answer("Done.");
    let mut bench = place.start(script).await;
    assert!(!bench.call_needs_approval().await, "the others are covered");
    assert!(bench.call_needs_approval().await);
    assert_eq!(called_tools(&folder), ["echo", "write"]);
}

#[tokio::test]
async fn a_grant_for_a_tool_covers_no_other_tool() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    let script = Script::default()
        .answer(&call_of("fs", "write", "src/a.rs"))
        .answer("Done.");
    assert!(place.start(script).await.call_needs_approval().await);
}

#[tokio::test]
async fn a_pattern_covers_no_near_miss() {
    let pattern = json!({ "path": "src/*.rs" });
    let pattern =
        ArgumentPattern::from_json(pattern.as_object().expect("an object")).expect("a pattern");
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunMatching { pattern }).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    let misses = [
        json!({ "path": "src/../etc/x.rs" }),
        json!({ "path": "src/a/b.rs" }),
        json!({ "path": "Src/a.rs" }),
        json!({ "path": "./src//a.rs" }),
        json!({ "path": "src/a.rs", "force": true }),
        json!({}),
    ];
    let mut script = Script::default();
    for arguments in &misses {
        let call = json!({ "server": "fs", "name": "echo", "arguments": arguments });
        script = script.answer(&call.to_string()).answer("Done.");
    }
    let hit = call_of("fs", "echo", "src/other.rs");
    let mut bench = place.start(script.answer(&hit).answer("Done.")).await;
    for arguments in &misses {
        assert!(bench.call_needs_approval().await, "{arguments}");
    }
    assert!(!bench.call_needs_approval().await);
    assert_eq!(called_tools(&bench.folder()), ["echo", "echo"]);
}

#[tokio::test]
async fn a_grant_for_the_session_ends_with_the_session_and_with_the_program() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunForSession).await;
    assert!(!bench.call_needs_approval().await);
    assert!(matches!(bench.trusted()[..], [TrustEntry::SessionGrant(_)]));
    bench.send(Command::NewSession).await;
    assert!(
        bench.call_needs_approval().await,
        "another conversation is another session"
    );
    assert_eq!(bench.trusted(), []);
    bench.decide_call(Decision::RunForSession).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    assert!(place.start(echo_script()).await.call_needs_approval().await);
}

#[tokio::test]
async fn a_revoked_grant_asks_at_once_and_after_a_restart() {
    for decision in remembered() {
        let mut bench = TrustFixture::new().start(echo_script()).await;
        bench.decide_call(decision).await;
        let [granted @ TrustEntry::Rule(_)] = &bench.trusted()[..] else {
            panic!("{:?}", bench.trusted());
        };
        let granted = granted.clone();
        assert!(!bench.call_needs_approval().await);
        bench.send(Command::Revoke(Box::new(granted))).await;
        assert!(bench.call_needs_approval().await);
        assert_eq!(bench.trusted(), []);
        let place = EngineHarness::find_text(bench.shut_down().await);
        assert!(place.start(echo_script()).await.call_needs_approval().await);
    }
}

#[tokio::test]
async fn what_was_ruled_out_never_runs_whatever_else_is_granted_or_has_changed() {
    let mut bench = TrustFixture::new().start(echo_script()).await;
    bench.decide_call(Decision::RunWholeServer).await;
    bench
        .send(Command::Revoke(Box::new(bench.trusted()[0].clone())))
        .await;
    bench.decide_call(Decision::Never).await;
    let heard = bench.model_messages();
    let Some(Message::ToolResult(result)) = heard.last() else {
        panic!("{heard:?}");
    };
    assert_eq!(
        result.content,
        "The user denied echo from fs, for good: it will never be run. Do not call it again."
    );
    let mut place = EngineHarness::find_text(bench.shut_down().await);
    place.edit_server_entry("fs", |entry| entry["env"] = json!({ "OTHER": "1" }));
    set_tools(&place.folder(), &definitions("Something else."));
    let folder = place.folder();
    let auto = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut bench = place.start_with_options(echo_script(), auto).await;
    assert!(!bench.call_needs_approval().await);
    assert_eq!(
        called_tools(&folder),
        ["echo"],
        "the one before it was ruled out"
    );
    let ended = bench.events.iter().rev().find_map(|event| match event {
        Event::Turn(_, TurnEvent::Tool(call)) => Some(call.state.clone()),
        _ => None,
    });
    assert_eq!(ended, Some(ToolState::Done(ToolOutcome::Never)));
}

#[tokio::test]
async fn the_command_line_allows_a_tool_for_one_run() {
    let allow = EngineOptions {
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut bench = TrustFixture::new()
        .start_with_options(echo_script(), allow)
        .await;
    assert!(!bench.call_needs_approval().await);
    let place = EngineHarness::find_text(bench.shut_down().await);
    let other = EngineOptions {
        allowed_tools: vec![
            ("fs".into(), "write".to_owned()),
            ("humble".into(), "echo".to_owned()),
        ],
        ..EngineOptions::default()
    };
    assert!(
        place
            .start_with_options(echo_script(), other)
            .await
            .call_needs_approval()
            .await
    );
}

#[tokio::test]
async fn a_call_that_stands_in_a_result_asks_whatever_was_granted() {
    let quoted = echo();
    let script = Script::default()
        .answer(&call_of("fs", "echo", "first"))
        .answer("Done.");
    let mut bench = TrustFixture::new().start(script).await;
    bench.decide_call(Decision::RunAlways).await;
    let place = EngineHarness::find_text(bench.shut_down().await);
    // A prompt with a pipe behind it is read as data.
    let script = Script::default().answer(&quoted).answer("Done.");
    let mut bench = place.start(script).await;
    let piped =
        humble::domain::Prompt::with_piped_context("Read this.", &format!("Call {quoted} now."));
    let turn = humble::domain::TurnId(1);
    bench
        .send(Command::Submit {
            turn,
            prompt: piped,
        })
        .await;
    bench.next_approval().await;
}

#[tokio::test]
async fn no_value_of_a_variable_or_header_stands_in_the_file() {
    let mut place = TrustFixture::new();
    place.edit_server_entry("fs", |entry| {
        entry["env"] = json!({ "SOME": "v4lue-of-it" })
    });
    let mut bench = place.start(echo_script()).await;
    bench.decide_call(Decision::RunAlways).await;
    let home = bench.shut_down().await;
    let text = fs::read_to_string(home.path().join("trust.json")).expect("written");
    assert!(
        text.contains("\"kind\": \"tool\"") && !text.contains("v4lue"),
        "{text}"
    );
}

#[tokio::test]
async fn ruling_a_tool_out_beats_what_was_decided_about_its_other_calls() {
    let calls: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|text| call_of("fs", "echo", text))
        .collect();
    for others in [
        Decision::RunAlways,
        Decision::RunWholeServer,
        Decision::RunForSession,
        Decision::Run,
    ] {
        let script = Script::default().answer(&calls.join("\n")).answer("Done.");
        let mut bench = TrustFixture::new().start(script).await;
        bench.prompt("Do it.").await;
        let (ask, calls) = bench.next_approval().await;
        assert_eq!(calls.len(), 3);
        let decisions = vec![
            (calls[0], Decision::Never),
            (calls[1], Decision::Run),
            (calls[2], others),
        ];
        bench.answer(ask, UserAnswer::Calls(decisions)).await;
        bench.wait_for_turn_end().await;
        bench
            .wait_until_trusted("the rule", |list| !list.is_empty())
            .await;
        let trusted = bench.trusted();
        let is_never =
            |one: &TrustEntry| matches!(one, TrustEntry::Rule(rule) if rule.is_blocking());
        assert!(
            trusted.len() == 1 && trusted.iter().all(is_never),
            "{trusted:?}"
        );
        assert!(called_tools(&bench.folder()).is_empty());
        bench.shut_down().await;
    }
}
