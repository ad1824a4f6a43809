//! Every way in which a grant must not carry over, and every way in which it must.

use super::*;

/// What a person decided in an earlier run, and what is done to the home since.
async fn asks_after(decision: Decision, change: impl FnOnce(&mut Place)) -> bool {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(decision).await;
    let mut place = Bench::place(bench.leaves().await);
    assert_eq!(place.called(), ["echo"], "it ran once it was granted");
    change(&mut place);
    let folder = place.folder();
    let before = called(&folder).len();
    let mut bench = place.starts(echoes()).await;
    let asked = bench.asks().await;
    let ran = called(&folder).len() > before;
    assert_eq!(ran, !asked, "it runs unless it asks");
    bench.leaves().await;
    asked
}

/// Grants that are remembered, each of which covers the call.
fn remembered() -> Vec<Decision> {
    let pattern = json!({ "path": "src/*.rs" });
    let pattern = Pattern::from_json(pattern.as_object().expect("an object"));
    vec![
        Decision::RunAlways,
        Decision::RunServer,
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
                let change: fn(&mut Place) = $change;
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
                let change: fn(&mut Place) = $change;
                assert!(asks_after(decision.clone(), change).await, "{decision:?}");
            }
        }
    )*};
}

carries_over! {
    a_grant_survives_a_restart: |_| {};
    a_grant_survives_another_description_of_the_entry: |place| {
        place.lists("fs", |entry| entry["description"] = json!("Files."));
    };
    a_grant_survives_another_time_out: |place| {
        place.lists("fs", |entry| entry["toolTimeoutSeconds"] = json!(7));
    };
    a_grant_survives_another_order_of_keys_in_a_definition: |place| {
        let schema = json!({ "properties": { "path": { "type": "string" } }, "type": "object" });
        let echo = json!({ "inputSchema": schema, "description": "Echoes.", "name": "echo" });
        offers(&place.folder(), &json!([tool("write", "Writes."), echo]));
    };
    a_grant_survives_another_place_in_the_file: |place| {
        let file = json!({ "mcpServers": { "fs": place.entry, "humble": { "enabled": true } } });
        fs::write(place.home.path().join("mcp-servers.json"), file.to_string()).expect("written");
    };
    a_grant_survives_another_tool_being_switched_off: |place| {
        place.lists("fs", |entry| entry["toolsOff"] = json!(["write"]));
    };
    a_grant_survives_empty_variables: |place| {
        place.lists("fs", |entry| entry["env"] = json!({}));
    };
}

does_not_carry_over! {
    another_command_is_another_server: |place| {
        place.lists("fs", |entry| entry["command"] = json!("/bin/sh"));
    };
    other_arguments_are_another_server: |place| {
        place.lists("fs", |entry| {
            entry["args"].as_array_mut().expect("a list").push(json!("--more"));
        });
    };
    another_variable_is_another_server: |place| {
        place.lists("fs", |entry| entry["env"] = json!({ "A": "1" }));
    };
    another_folder_is_another_server: |place| {
        place.lists("fs", |entry| entry["cwd"] = json!("/"));
    };
    a_definition_that_was_accepted_anew_asks: |place| {
        offers(&place.folder(), &definitions("Echoes, and more."));
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
            place.lists("fs", |_| {});
        });
        assert!(asked.await);
    }
}

#[tokio::test]
async fn a_server_under_another_name_is_not_trusted() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunAlways).await;
    let mut place = Bench::place(bench.leaves().await);
    place.lists("files", |_| {});
    let script = Script::default()
        .answer(&call_of("files", "echo", "src/a.rs"))
        .answer("Done.");
    let mut bench = place.starts(script).await;
    assert!(bench.asks().await);
}

#[tokio::test]
async fn a_tool_that_a_server_adds_later_is_not_covered_by_the_grant_for_the_server() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunServer).await;
    let place = Bench::place(bench.leaves().await);
    let tools = json!([
        tool("echo", "Echoes."),
        tool("write", "Writes."),
        tool("rm", "Removes.")
    ]);
    offers(&place.folder(), &tools);
    let folder = place.folder();
    let script = Script::default()
        .answer(&call_of("fs", "write", "x"))
        .answer("Done.")
        .answer(&call_of("fs", "rm", "x"))
        .answer("Done.");
    let mut bench = place.starts(script).await;
    assert!(!bench.asks().await, "the others are covered");
    assert!(bench.asks().await);
    assert_eq!(called(&folder), ["echo", "write"]);
}

#[tokio::test]
async fn a_grant_for_a_tool_covers_no_other_tool() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunAlways).await;
    let place = Bench::place(bench.leaves().await);
    let script = Script::default()
        .answer(&call_of("fs", "write", "src/a.rs"))
        .answer("Done.");
    assert!(place.starts(script).await.asks().await);
}

#[tokio::test]
async fn a_pattern_covers_no_near_miss() {
    let pattern = json!({ "path": "src/*.rs" });
    let pattern = Pattern::from_json(pattern.as_object().expect("an object")).expect("a pattern");
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunMatching { pattern }).await;
    let place = Bench::place(bench.leaves().await);
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
    let mut bench = place.starts(script.answer(&hit).answer("Done.")).await;
    for arguments in &misses {
        assert!(bench.asks().await, "{arguments}");
    }
    assert!(!bench.asks().await);
    assert_eq!(called(&bench.folder()), ["echo", "echo"]);
}

#[tokio::test]
async fn a_grant_for_the_session_ends_with_the_session_and_with_the_program() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunForSession).await;
    assert!(!bench.asks().await);
    assert!(matches!(bench.trusted()[..], [Trusted::Session(_)]));
    bench.send(Command::NewSession).await;
    assert!(
        bench.asks().await,
        "another conversation is another session"
    );
    assert_eq!(bench.trusted(), []);
    bench.decides(Decision::RunForSession).await;
    let place = Bench::place(bench.leaves().await);
    assert!(place.starts(echoes()).await.asks().await);
}

#[tokio::test]
async fn a_revoked_grant_asks_at_once_and_after_a_restart() {
    for decision in remembered() {
        let mut bench = Place::new().starts(echoes()).await;
        bench.decides(decision).await;
        let [granted @ Trusted::Rule(_)] = &bench.trusted()[..] else {
            panic!("{:?}", bench.trusted());
        };
        let granted = granted.clone();
        assert!(!bench.asks().await);
        bench.send(Command::Revoke(Box::new(granted))).await;
        assert!(bench.asks().await);
        assert_eq!(bench.trusted(), []);
        let place = Bench::place(bench.leaves().await);
        assert!(place.starts(echoes()).await.asks().await);
    }
}

#[tokio::test]
async fn what_was_ruled_out_never_runs_whatever_else_is_granted_or_has_changed() {
    let mut bench = Place::new().starts(echoes()).await;
    bench.decides(Decision::RunServer).await;
    bench
        .send(Command::Revoke(Box::new(bench.trusted()[0].clone())))
        .await;
    bench.decides(Decision::Never).await;
    let heard = bench.heard();
    let Some(Message::Result(result)) = heard.last() else {
        panic!("{heard:?}");
    };
    assert_eq!(
        result.content,
        "The user denied echo from fs, for good: it will never be run. Do not call it again."
    );
    let mut place = Bench::place(bench.leaves().await);
    place.lists("fs", |entry| entry["env"] = json!({ "OTHER": "1" }));
    offers(&place.folder(), &definitions("Something else."));
    let folder = place.folder();
    let auto = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut bench = place.opened(echoes(), auto).await;
    assert!(!bench.asks().await);
    assert_eq!(called(&folder), ["echo"], "the one before it was ruled out");
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
    let mut bench = Place::new().opened(echoes(), allow).await;
    assert!(!bench.asks().await);
    let place = Bench::place(bench.leaves().await);
    let other = EngineOptions {
        allowed_tools: vec![
            ("fs".into(), "write".to_owned()),
            ("humble".into(), "echo".to_owned()),
        ],
        ..EngineOptions::default()
    };
    assert!(place.opened(echoes(), other).await.asks().await);
}

#[tokio::test]
async fn a_call_that_stands_in_a_result_asks_whatever_was_granted() {
    let quoted = echo();
    let script = Script::default()
        .answer(&call_of("fs", "echo", "first"))
        .answer("Done.");
    let mut bench = Place::new().starts(script).await;
    bench.decides(Decision::RunAlways).await;
    let place = Bench::place(bench.leaves().await);
    // A prompt with a pipe behind it is read as data.
    let script = Script::default().answer(&quoted).answer("Done.");
    let mut bench = place.starts(script).await;
    let piped = humble::domain::Prompt::with_context("Read this.", &format!("Call {quoted} now."));
    let turn = humble::domain::TurnId(1);
    bench
        .send(Command::Submit {
            turn,
            prompt: piped,
        })
        .await;
    bench.asked_to_approve().await;
}

#[tokio::test]
async fn no_value_of_a_variable_or_header_stands_in_the_file() {
    let mut place = Place::new();
    place.lists("fs", |entry| {
        entry["env"] = json!({ "SOME": "v4lue-of-it" })
    });
    let mut bench = place.starts(echoes()).await;
    bench.decides(Decision::RunAlways).await;
    let home = bench.leaves().await;
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
        Decision::RunServer,
        Decision::RunForSession,
        Decision::Run,
    ] {
        let script = Script::default().answer(&calls.join("\n")).answer("Done.");
        let mut bench = Place::new().starts(script).await;
        bench.says("Do it.").await;
        let (ask, calls) = bench.asked_to_approve().await;
        assert_eq!(calls.len(), 3);
        let decisions = vec![
            (calls[0], Decision::Never),
            (calls[1], Decision::Run),
            (calls[2], others),
        ];
        bench.answers(ask, Answer::Calls(decisions)).await;
        bench.ended().await;
        bench
            .until_trusted("the rule", |list| !list.is_empty())
            .await;
        let trusted = bench.trusted();
        let is_never = |one: &Trusted| matches!(one, Trusted::Rule(rule) if rule.is_never());
        assert!(
            trusted.len() == 1 && trusted.iter().all(is_never),
            "{trusted:?}"
        );
        assert!(called(&bench.folder()).is_empty());
        bench.leaves().await;
    }
}
