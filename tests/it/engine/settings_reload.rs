//! Files edited while the program runs: changes that apply at once, changes that need consent,
//! and edits that are never applied.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::BannerCause;
use humble::domain::{Banner, ChangeImpact, ModelRef, Notice, SettingsChange};
use std::fs;

impl EngineHarness {
    /// Edits a file and has the engine reload.
    pub async fn edits(&mut self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).expect("the home is ours");
        self.send(Command::Reload).await;
    }

    pub async fn noticed(&mut self, text: &str) -> Notice {
        let found = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).contains(text));
        match self.wait_for(text, found).await {
            Event::NoticePosted(notice) => notice,
            _ => unreachable!("just matched"),
        }
    }

    pub async fn asked_of_edit(&mut self) -> (humble::domain::AskId, Vec<SettingsChange>) {
        match self.next_question().await {
            (ask, Ask::ExternalEdit(changes)) => {
                let waiting =
                    |change: &&SettingsChange| change.impact == ChangeImpact::NeedsConsent;
                (ask, changes.iter().filter(waiting).cloned().collect())
            }
            (_, other) => panic!("unexpected question: {other:?}"),
        }
    }

    pub async fn chooses(&mut self, ask: humble::domain::AskId, choice: UserChoice) {
        self.answer(ask, UserAnswer::Choice(choice)).await;
    }

    /// The banners after everything before has been handled.
    pub async fn banners(&mut self) -> Vec<Banner> {
        self.send(Command::ListSessions(humble::domain::QueryId(1)))
            .await;
        let listed = |event: &Event| matches!(event, Event::SessionsListed { .. });
        self.wait_for("a list", listed).await;
        let newest = self.events.iter().rev().find_map(|event| match event {
            Event::BannersChanged(banners) => Some(banners.clone()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    pub async fn waiting(&mut self) -> Vec<String> {
        let banners = self.banners().await.into_iter();
        let waiting = banners.filter(|banner| banner.cause == BannerCause::PendingSettings);
        waiting.map(|banner| notice_text(&banner.notice)).collect()
    }

    async fn system_message(&mut self, prompt: &str) -> String {
        self.prompt(prompt).await;
        self.wait_for_turn_end().await;
        let first = self.last_request().messages.into_iter().next();
        match first {
            Some(Message::System(text)) => text,
            _ => String::new(),
        }
    }
}

pub fn with(extra: &Value) -> String {
    let mut config: Value = serde_json::from_str(OLLAMA_CONFIG).expect("JSON");
    let extra = extra.as_object().expect("an object").clone();
    config.as_object_mut().expect("an object").extend(extra);
    config.to_string()
}

fn auto(events: &[Event]) -> bool {
    events.contains(&Event::ToolModeChanged(ToolMode::Auto))
}

#[tokio::test(start_paused = true)]
async fn harmless_edits_apply_at_once_and_are_reported() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = r#"{ "logLevel": "debug", "models": [
        { "name": "m", "provider": "ollama", "active": true },
        { "name": "x", "provider": "ollama" } ] }"#;
    harness.edits("config.json", config).await;
    let notice = harness.noticed("config.json").await;
    assert_eq!(
        notice_text(&notice),
        "config.json: model `x` was added; logLevel is debug now."
    );
    let names = |models: &[ModelRef]| {
        models
            .iter()
            .map(|model| model.name.clone())
            .collect::<Vec<_>>()
    };
    let listed = harness.events.iter().rev().find_map(|event| match event {
        Event::ModelsListed { models, selected } => Some((names(models), selected.clone())),
        _ => None,
    });
    let (models, selected) = listed.expect("a list");
    assert_eq!(models, ["m", "x"]);
    assert_eq!(selected.map(|model| model.name), Some("m".to_owned()));
    assert_eq!(harness.waiting().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn auto_mode_needs_consent_before_it_applies() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = with(&json!({ "toolCallMode": "auto", "logLevel": "warn" }));
    harness.edits("config.json", &config).await;
    harness.noticed("config.json: logLevel is warn now.").await;
    let (ask, changes) = harness.asked_of_edit().await;
    let expected = SettingsChange {
        file: "config.json".to_owned(),
        impact: ChangeImpact::NeedsConsent,
        what: "`toolCallMode`: tools would run without asking".to_owned(),
        before: Some("manual".to_owned()),
        after: Some("auto".to_owned()),
    };
    assert_eq!(changes, [expected]);
    assert!(!auto(&harness.events), "nothing is applied yet");
    // The dialog lists the change, so a banner would only waste rows.
    assert_eq!(harness.waiting().await, [""; 0]);
    harness.chooses(ask, UserChoice::ApplyChanges).await;
    harness.noticed("applied.").await;
    assert!(auto(&harness.events));
    assert_eq!(harness.waiting().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn declined_change_is_asked_about_again_only_on_request() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = with(&json!({ "toolCallMode": "auto" }));
    harness.edits("config.json", &config).await;
    let (ask, _) = harness.asked_of_edit().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let banner = "config.json has changes that apply at the next start. [Reload]";
    assert_eq!(harness.waiting().await, [banner]);
    let text = fs::read_to_string(harness.home.path().join("config.json")).expect("a file");
    assert_eq!(text, config, "the file is unchanged");
    // A reload asks again, and a further edit is added.
    harness.send(Command::Reload).await;
    let (ask, again) = harness.asked_of_edit().await;
    harness.chooses(ask, UserChoice::Stop).await;
    harness.edits("system_prompt.txt", "Obey the file.").await;
    let (ask, both) = harness.asked_of_edit().await;
    assert_eq!(both[..1], again);
    assert_eq!(both.len(), 2);
    // Another edit replaces the open question.
    harness.edits("system_prompt.txt", "Obey nobody.").await;
    let closed = |event: &Event| *event == Event::AskClosed(ask);
    harness.wait_for("the older question's end", closed).await;
    let (ask, newer) = harness.asked_of_edit().await;
    assert_eq!(newer[1].after.as_deref(), Some("Obey nobody."));
    // After reverting the edits, there is nothing to ask.
    fs::write(harness.home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    fs::remove_file(harness.home.path().join("system_prompt.txt")).expect("removed");
    let prompt = include_str!("../../../assets/default_system_prompt.md");
    harness.edits("system_prompt.txt", prompt).await;
    harness
        .wait_for("its end", |event| *event == Event::AskClosed(ask))
        .await;
    assert_eq!(harness.waiting().await, [""; 0]);
    assert!(!auto(&harness.events));
}

#[tokio::test(start_paused = true)]
async fn server_added_by_a_tool_is_not_started() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let mark = harness.home.path().join("was-here");
    let mark_text = mark.display().to_string();
    let evil = json!({ "mcpServers": { "x": { "command": "touch", "args": [mark_text] } } });
    harness.edits("mcp-servers.json", &evil.to_string()).await;
    let (ask, changes) = harness.asked_of_edit().await;
    assert_eq!(changes[0].what, "new server `x`, on");
    harness.chooses(ask, UserChoice::Stop).await;
    assert_eq!(harness.waiting().await.len(), 1);
    // A choice of the user writes the file without applying other edits.
    harness.send(Command::ToggleServer("humble".into())).await;
    let off = |event: &Event| matches!(event, Event::ServersListed(servers) if servers.len() == 1 && !servers[0].enabled);
    harness.wait_for("the built-in server is off", off).await;
    assert_eq!(harness.waiting().await.len(), 1);
    let home = harness.shut_down().await;
    assert!(!mark.exists());
    let file = read(&home.path().join("mcp-servers.json"));
    assert_eq!(
        file["mcpServers"]["x"], evil["mcpServers"]["x"],
        "the edit stays in the file"
    );
    assert_eq!(file["mcpServers"]["humble"]["enabled"], false);
}

#[tokio::test(start_paused = true)]
async fn malformed_edit_changes_nothing_and_its_banner_clears_when_fixed() {
    let script = Script::default().answer("Still here.");
    let mut harness = EngineHarness::start(script).await;
    harness.edits("config.json", "{ \"models\": [,] }").await;
    harness.noticed("nothing changes").await;
    let banners = harness.banners().await;
    let text = notice_text(&banners[0].notice);
    assert!(text.contains("config.json, line 1, column 14"), "{text}");
    let expected = "The previous settings stay in use, and nothing is saved to the file.";
    assert!(text.contains(expected), "{text}");
    harness.prompt("Are you there?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Still here."));
    harness.edits("config.json", OLLAMA_CONFIG).await;
    harness.noticed("nothing changes").await;
    assert_eq!(harness.banners().await, []);
}

#[tokio::test(start_paused = true)]
async fn turn_keeps_its_system_prompt_and_the_next_uses_the_new_one() {
    let script = Script::default()
        .round([ScriptStep::text(GET_TIME_CALL), ScriptStep::end()])
        .answer("Noon.")
        .answer("Later.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    harness.edits("system_prompt.txt", "New words.").await;
    let (edit, _) = harness.asked_of_edit().await;
    harness.chooses(edit, UserChoice::ApplyChanges).await;
    harness.noticed("applied.").await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    harness.wait_for_turn_end().await;
    let Message::System(text) = &harness.last_request().messages[0] else {
        panic!("no system message");
    };
    assert!(text.starts_with("You are a **tool-first"), "{text}");
    let text = harness.system_message("And now?").await;
    assert!(text.starts_with("New words.\n\n"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn removed_model_stays_selected_and_the_first_model_needs_consent() {
    let script = Script::default().answer("Still me.");
    let mut harness = EngineHarness::start(script).await;
    harness.edits("config.json", "{}").await;
    let notice = harness.noticed("It stays selected").await;
    assert!(notice_text(&notice).starts_with("`m` is no longer in config.json."));
    harness.prompt("Who?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Still me."));

    // No model is selected: an edit alone must not decide where the conversation goes.
    let two = r#"{ "models": [
        { "name": "m", "provider": "ollama", "active": true },
        { "name": "x", "provider": "ollama", "active": true } ] }"#;
    let one = r#"{ "models": [
        { "name": "m", "provider": "ollama" },
        { "name": "x", "provider": "ollama", "active": true } ] }"#;
    for (before, after, name) in [("{}", OLLAMA_CONFIG, "m"), (two, one, "x")] {
        let mut harness =
            EngineHarness::start_with_config(Script::default().answer("Me."), before).await;
        harness.edits("config.json", after).await;
        let (ask, changes) = harness.asked_of_edit().await;
        let needs_consent = |change: &&SettingsChange| change.impact == ChangeImpact::NeedsConsent;
        let needs_consent_changes: Vec<&SettingsChange> =
            changes.iter().filter(needs_consent).collect();
        let shown = format!("provider: ollama\nmodel: {name}\nbaseUrl: http://localhost:11434");
        let expected = SettingsChange::needs_consent(
            "config.json",
            format!("model `{name}` would be used from now on"),
            None,
            Some(shown),
        );
        assert_eq!(needs_consent_changes, [&expected]);
        harness.chooses(ask, UserChoice::Stop).await;
        assert_eq!(harness.waiting().await.len(), 1);
        let is_used = |event: &Event| matches!(event, Event::ModelsListed { selected, .. } if selected.is_some());
        assert!(
            !harness.events.iter().any(is_used),
            "no model is selected yet"
        );
        harness.send(Command::Reload).await;
        let (ask, _) = harness.asked_of_edit().await;
        harness.chooses(ask, UserChoice::ApplyChanges).await;
        harness.noticed("The change was applied.").await;
        harness.prompt("Who?").await;
        assert_eq!(harness.wait_for_turn_end().await, answered("Me."));
    }
}

#[tokio::test(start_paused = true)]
async fn own_writes_are_not_external_edits() {
    let two = r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true },
        { "name": "n", "provider": "ollama" } ] }"#;
    let mut harness = EngineHarness::start_with_config(Script::default(), two).await;
    let other = ModelRef {
        name: "n".to_owned(),
        provider: ProviderKind::Ollama,
        model: "n".to_owned(),
    };
    harness.send(Command::SelectModel(other)).await;
    harness.send(Command::SetToolMode(ToolMode::Auto)).await;
    harness
        .send(Command::ToggleTool {
            server: "humble".into(),
            tool: "say_hello".into(),
        })
        .await;
    harness.send(Command::ToggleServer("humble".into())).await;
    // The read waits for the writes.
    harness.send(Command::Reload).await;
    harness.noticed("nothing changes").await;
    let is_asked = harness
        .events
        .iter()
        .any(|event| matches!(event, Event::Asked { .. }));
    assert!(!is_asked && harness.waiting().await.is_empty());
    let home = harness.shut_down().await;
    let config = read(&home.path().join("config.json"));
    assert_eq!(config["toolCallMode"], "auto");
    assert_eq!(config["models"][1]["active"], true);
}
