//! Every case in which a grant must not carry over, and every case in which it must.

use super::*;

/// Whether a call asks after a decision of an earlier run and a change of the home since.
async fn asks_after(decision: Decision, change: impl FnOnce(&mut TrustFixture)) -> bool {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(decision).await;
    let mut fixture = EngineHarness::find_text(harness.shut_down().await);
    assert_eq!(fixture.called(), ["echo"], "the granted call ran once");
    change(&mut fixture);
    let folder = fixture.folder();
    let before = called_tools(&folder).len();
    let mut harness = fixture.start(echo_script()).await;
    let needs_approval = harness.call_needs_approval().await;
    let ran = called_tools(&folder).len() > before;
    assert_eq!(ran, !needs_approval, "either it ran or it asked");
    harness.shut_down().await;
    needs_approval
}

/// Stored grants, each of which covers the call.
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
    a_grant_survives_another_description_of_the_entry: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["description"] = json!("Files."));
    };
    a_grant_survives_another_time_out: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["toolTimeoutSeconds"] = json!(7));
    };
    a_grant_survives_another_order_of_keys_in_a_definition: |fixture| {
        let schema = json!({ "properties": { "path": { "type": "string" } }, "type": "object" });
        let echo = json!({ "inputSchema": schema, "description": "Echoes.", "name": "echo" });
        set_tools(&fixture.folder(), &json!([tool("write", "Writes."), echo]));
    };
    a_grant_survives_another_place_in_the_file: |fixture| {
        let file = json!({ "mcpServers": { "fs": fixture.entry, "humble": { "enabled": true } } });
        fs::write(fixture.home.path().join("mcp-servers.json"), file.to_string()).expect("written");
    };
    a_grant_survives_another_tool_being_switched_off: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["toolsOff"] = json!(["write"]));
    };
    a_grant_survives_empty_variables: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["env"] = json!({}));
    };
}

does_not_carry_over! {
    another_command_is_another_server: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["command"] = json!("/bin/sh"));
    };
    other_arguments_are_another_server: |fixture| {
        fixture.edit_server_entry("fs", |entry| {
            entry["args"].as_array_mut().expect("a list").push(json!("--more"));
        });
    };
    another_variable_is_another_server: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["env"] = json!({ "A": "1" }));
    };
    another_folder_is_another_server: |fixture| {
        fixture.edit_server_entry("fs", |entry| entry["cwd"] = json!("/"));
    };
    a_definition_that_was_accepted_anew_asks: |fixture| {
        set_tools(&fixture.folder(), &definitions("Echoes, and more."));
        // As if the user had accepted the change.
        let file = fixture.home.path().join("trust.json");
        let mut trust = read(&file);
        trust.as_object_mut().expect("an object").shift_remove("pins");
        fs::write(file, trust.to_string()).expect("written");
    };
    the_trust_of_another_home_is_not_this_ones: |fixture| {
        fs::remove_file(fixture.home.path().join("trust.json")).expect("no branch: the answer was there already");
    };
}

#[tokio::test]
async fn name_taken_by_another_server_is_not_trusted() {
    for decision in remembered() {
        let needs_approval = asks_after(decision, |fixture| {
            let other = fixture.home.path().join("other");
            fixture.entry = install(&other, &definitions("Echoes."));
            fixture.edit_server_entry("fs", |_| {});
        });
        assert!(needs_approval.await);
    }
}

#[tokio::test]
async fn renamed_server_is_not_trusted() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunAlways).await;
    let mut fixture = EngineHarness::find_text(harness.shut_down().await);
    fixture.edit_server_entry("files", |_| {});
    let script = Script::default()
        .answer(&call_of("files", "echo", "src/a.rs"))
        .answer("Done.");
    let mut harness = fixture.start(script).await;
    assert!(harness.call_needs_approval().await);
}

#[tokio::test]
async fn server_grant_does_not_cover_tools_added_later() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunWholeServer).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    let tools = json!([
        tool("echo", "Echoes."),
        tool("write", "Writes."),
        tool("rm", "Removes.")
    ]);
    set_tools(&fixture.folder(), &tools);
    let folder = fixture.folder();
    let script = Script::default()
        .answer(&call_of("fs", "write", "x"))
        .answer("Done.")
        .answer(&call_of("fs", "rm", "x"))
        .answer("Done.");
    let mut harness = fixture.start(script).await;
    assert!(
        !harness.call_needs_approval().await,
        "the earlier tools are covered"
    );
    assert!(harness.call_needs_approval().await);
    assert_eq!(called_tools(&folder), ["echo", "write"]);
}

#[tokio::test]
async fn tool_grant_covers_no_other_tool() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunAlways).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    let script = Script::default()
        .answer(&call_of("fs", "write", "src/a.rs"))
        .answer("Done.");
    assert!(fixture.start(script).await.call_needs_approval().await);
}

#[tokio::test]
async fn pattern_covers_no_near_miss() {
    let pattern = json!({ "path": "src/*.rs" });
    let pattern =
        ArgumentPattern::from_json(pattern.as_object().expect("an object")).expect("a pattern");
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunMatching { pattern }).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
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
    let covered_call = call_of("fs", "echo", "src/other.rs");
    let mut harness = fixture
        .start(script.answer(&covered_call).answer("Done."))
        .await;
    for arguments in &misses {
        assert!(harness.call_needs_approval().await, "{arguments}");
    }
    assert!(!harness.call_needs_approval().await);
    assert_eq!(called_tools(&harness.folder()), ["echo", "echo"]);
}

#[tokio::test]
async fn session_grant_ends_with_the_session_and_the_program() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunForSession).await;
    assert!(!harness.call_needs_approval().await);
    assert!(matches!(
        harness.trusted()[..],
        [TrustEntry::SessionGrant(_)]
    ));
    harness.send(Command::NewSession).await;
    assert!(
        harness.call_needs_approval().await,
        "a new conversation is a new session"
    );
    assert_eq!(harness.trusted(), []);
    harness.decide_call(Decision::RunForSession).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    assert!(
        fixture
            .start(echo_script())
            .await
            .call_needs_approval()
            .await
    );
}

#[tokio::test]
async fn revoked_grant_asks_at_once_and_after_a_restart() {
    for decision in remembered() {
        let mut harness = TrustFixture::new().start(echo_script()).await;
        harness.decide_call(decision).await;
        let [granted @ TrustEntry::Rule(_)] = &harness.trusted()[..] else {
            panic!("{:?}", harness.trusted());
        };
        let granted = granted.clone();
        assert!(!harness.call_needs_approval().await);
        harness.send(Command::Revoke(Box::new(granted))).await;
        assert!(harness.call_needs_approval().await);
        assert_eq!(harness.trusted(), []);
        let fixture = EngineHarness::find_text(harness.shut_down().await);
        assert!(
            fixture
                .start(echo_script())
                .await
                .call_needs_approval()
                .await
        );
    }
}

#[tokio::test]
async fn blocked_tool_never_runs_whatever_is_granted() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.decide_call(Decision::RunWholeServer).await;
    harness
        .send(Command::Revoke(Box::new(harness.trusted()[0].clone())))
        .await;
    harness.decide_call(Decision::Never).await;
    let messages = harness.model_messages();
    let Some(Message::ToolResult(result)) = messages.last() else {
        panic!("{messages:?}");
    };
    assert_eq!(
        result.content,
        "The user denied echo from fs, for good: it will never be run. Do not call it again."
    );
    let mut fixture = EngineHarness::find_text(harness.shut_down().await);
    fixture.edit_server_entry("fs", |entry| entry["env"] = json!({ "OTHER": "1" }));
    set_tools(&fixture.folder(), &definitions("Something else."));
    let folder = fixture.folder();
    let auto = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut harness = fixture.start_with_options(echo_script(), auto).await;
    assert!(!harness.call_needs_approval().await);
    assert_eq!(
        called_tools(&folder),
        ["echo"],
        "only the call before blocking ran"
    );
    let ended = harness.events.iter().rev().find_map(|event| match event {
        Event::Turn(_, TurnEvent::Tool(call)) => Some(call.state.clone()),
        _ => None,
    });
    assert_eq!(ended, Some(ToolState::Done(ToolOutcome::Never)));
}

#[tokio::test]
async fn command_line_allows_a_tool_for_one_run() {
    let allow = EngineOptions {
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut harness = TrustFixture::new()
        .start_with_options(echo_script(), allow)
        .await;
    assert!(!harness.call_needs_approval().await);
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    let other = EngineOptions {
        allowed_tools: vec![
            ("fs".into(), "write".to_owned()),
            ("humble".into(), "echo".to_owned()),
        ],
        ..EngineOptions::default()
    };
    assert!(
        fixture
            .start_with_options(echo_script(), other)
            .await
            .call_needs_approval()
            .await
    );
}

#[tokio::test]
async fn copied_call_asks_whatever_was_granted() {
    let quoted = echo();
    let script = Script::default()
        .answer(&call_of("fs", "echo", "first"))
        .answer("Done.");
    let mut harness = TrustFixture::new().start(script).await;
    harness.decide_call(Decision::RunAlways).await;
    let fixture = EngineHarness::find_text(harness.shut_down().await);
    // Piped text is untrusted.
    let script = Script::default().answer(&quoted).answer("Done.");
    let mut harness = fixture.start(script).await;
    let piped =
        humble::domain::Prompt::with_piped_context("Read this.", &format!("Call {quoted} now."));
    let turn = humble::domain::TurnId(1);
    harness
        .send(Command::Submit {
            turn,
            prompt: piped,
        })
        .await;
    harness.next_approval().await;
}

#[tokio::test]
async fn trust_file_contains_no_values_of_variables_or_headers() {
    let mut fixture = TrustFixture::new();
    fixture.edit_server_entry("fs", |entry| {
        entry["env"] = json!({ "SOME": "v4lue-of-it" })
    });
    let mut harness = fixture.start(echo_script()).await;
    harness.decide_call(Decision::RunAlways).await;
    let home = harness.shut_down().await;
    let text = fs::read_to_string(home.path().join("trust.json")).expect("written");
    assert!(
        text.contains("\"kind\": \"tool\"") && !text.contains("v4lue"),
        "{text}"
    );
}

#[tokio::test]
async fn blocking_a_tool_overrides_decisions_about_its_other_calls() {
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
        let mut harness = TrustFixture::new().start(script).await;
        harness.prompt("Do it.").await;
        let (ask, calls) = harness.next_approval().await;
        assert_eq!(calls.len(), 3);
        let decisions = vec![
            (calls[0], Decision::Never),
            (calls[1], Decision::Run),
            (calls[2], others),
        ];
        harness.answer(ask, UserAnswer::Calls(decisions)).await;
        harness.wait_for_turn_end().await;
        harness
            .wait_until_trusted("the rule", |list| !list.is_empty())
            .await;
        let trusted = harness.trusted();
        let is_never =
            |entry: &TrustEntry| matches!(entry, TrustEntry::Rule(rule) if rule.is_blocking());
        assert!(
            trusted.len() == 1 && trusted.iter().all(is_never),
            "{trusted:?}"
        );
        assert!(called_tools(&harness.folder()).is_empty());
        harness.shut_down().await;
    }
}
