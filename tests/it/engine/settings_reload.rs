//! Edits to the settings files by other programs: changes that apply at once, changes that need
//! consent, and edits that are never applied.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::BannerCause;
use humble::domain::trust::DiffSign;
use humble::domain::{Banner, ModelRef, Notice};
use humble::text::Clean;
use std::fs;

/// A change of a settings file as the question shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownChange {
    /// The file and what changes.
    pub what: String,
    pub before: String,
    pub after: String,
}

impl ShownChange {
    fn new(heading: &Clean, lines: &[(DiffSign, Clean)]) -> Self {
        let value = |wanted: DiffSign| {
            let lines = lines.iter().filter(|(sign, _)| *sign == wanted);
            let lines: Vec<&str> = lines.map(|(_, line)| line.as_str()).collect();
            lines.join("\n")
        };
        Self {
            what: heading.to_string(),
            before: value(DiffSign::Removed),
            after: value(DiffSign::Added),
        }
    }
}

impl EngineHarness {
    /// Overwrites a file of the home and makes the engine reload it.
    pub async fn edit_file(&mut self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).expect("the home is ours");
        self.send(Command::Reload).await;
    }

    /// Waits for a notice that contains `text`.
    pub async fn wait_for_notice(&mut self, text: &str) -> Notice {
        let is_wanted = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).contains(text));
        match self.wait_for(text, is_wanted).await {
            Event::NoticePosted(notice) => notice,
            _ => unreachable!("just matched"),
        }
    }

    /// Waits for the question about external edits; returns the changes that need consent.
    pub async fn next_edit_question(&mut self) -> (AskId, Vec<ShownChange>) {
        let (ask, question) = self.next_question().await;
        assert_eq!(question.kind, "outside_edit");
        let changes = question.blocks.iter().filter_map(|block| match block {
            Block::Diff { heading, lines } if heading.as_str() != "Already applied:" => {
                Some(ShownChange::new(heading, lines))
            }
            _ => None,
        });
        (ask, changes.collect())
    }

    pub async fn choose(&mut self, ask: AskId, choice: UserChoice) {
        self.answer(ask, UserAnswer::Choice(choice)).await;
    }

    /// The banners after the engine has handled all earlier commands.
    pub async fn current_banners(&mut self) -> Vec<Banner> {
        self.send(Command::ListSessions(humble::domain::QueryId(1)))
            .await;
        let is_listed = |event: &Event| matches!(event, Event::SessionsListed { .. });
        self.wait_for("the sessions", is_listed).await;
        let newest = self.events.iter().rev().find_map(|event| match event {
            Event::BannersChanged(banners) => Some(banners.clone()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    /// The texts of the banners about changes that the engine has not applied.
    pub async fn pending_settings_banners(&mut self) -> Vec<String> {
        let banners = self.current_banners().await.into_iter();
        let pending = banners.filter(|banner| banner.cause == BannerCause::PendingSettings);
        pending.map(|banner| notice_text(&banner.notice)).collect()
    }

    /// Completes a turn and returns the system message of its last request, or an empty string.
    pub async fn system_message_for(&mut self, prompt: &str) -> String {
        self.prompt(prompt).await;
        self.wait_for_turn_end().await;
        let first = self.last_request().messages.into_iter().next();
        match first {
            Some(Message::System(text)) => text,
            _ => String::new(),
        }
    }
}

/// [`OLLAMA_CONFIG`] with these additional settings.
pub fn config_with(extra: &Value) -> String {
    let mut config: Value = serde_json::from_str(OLLAMA_CONFIG).expect("JSON");
    let extra = extra.as_object().expect("an object").clone();
    config.as_object_mut().expect("an object").extend(extra);
    config.to_string()
}

fn is_auto_mode_on(events: &[Event]) -> bool {
    events.contains(&Event::ToolModeChanged(ToolMode::Auto))
}

#[tokio::test(start_paused = true)]
async fn harmless_edits_apply_at_once_and_are_reported() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = r#"{ "logLevel": "debug", "models": [
        { "name": "m", "provider": "ollama", "active": true },
        { "name": "x", "provider": "ollama" } ] }"#;
    harness.edit_file("config.json", config).await;
    let notice = harness.wait_for_notice("config.json").await;
    assert_eq!(
        notice_text(&notice),
        "config.json: model `x` was added; logLevel is now debug."
    );
    let names = |models: &[ModelRef]| {
        models
            .iter()
            .map(|model| model.name.clone())
            .collect::<Vec<_>>()
    };
    let listing = harness.events.iter().rev().find_map(|event| match event {
        Event::ModelsListed {
            models, selected, ..
        } => Some((names(models), selected.clone())),
        _ => None,
    });
    let (models, selected) = listing.expect("a list");
    assert_eq!(models, ["m", "x"]);
    assert_eq!(selected.map(|model| model.name), Some("m".to_owned()));
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn auto_mode_needs_consent_before_it_applies() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = config_with(&json!({ "toolCallMode": "auto", "logLevel": "warn" }));
    harness.edit_file("config.json", &config).await;
    harness
        .wait_for_notice("config.json: logLevel is now warn.")
        .await;
    let (ask, changes) = harness.next_edit_question().await;
    let expected = ShownChange {
        what: "config.json: `toolCallMode`: tools would run without asking".to_owned(),
        before: "manual".to_owned(),
        after: "auto".to_owned(),
    };
    assert_eq!(changes, [expected]);
    assert!(!is_auto_mode_on(&harness.events), "nothing is applied yet");
    // The dialog lists the change, so a banner would only waste rows.
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    assert!(is_auto_mode_on(&harness.events));
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn declined_change_is_asked_about_again_only_on_request() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let config = config_with(&json!({ "toolCallMode": "auto" }));
    harness.edit_file("config.json", &config).await;
    let (ask, _) = harness.next_edit_question().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let banner = "config.json has changes that you rejected; they are not used. [Reload]";
    assert_eq!(harness.pending_settings_banners().await, [banner]);
    let text = fs::read_to_string(harness.home.path().join("config.json")).expect("a file");
    assert_eq!(text, config, "the file is unchanged");
    // A reload asks again. After an edit to another file, the question has both changes.
    harness.send(Command::Reload).await;
    let (ask, changes_after_reload) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::Stop).await;
    harness
        .edit_file("system_prompt.txt", "Obey the file.")
        .await;
    let (ask, both_changes) = harness.next_edit_question().await;
    assert_eq!(both_changes[..1], changes_after_reload);
    assert_eq!(both_changes.len(), 2);
    // Another edit replaces the open question.
    harness.edit_file("system_prompt.txt", "Obey nobody.").await;
    let is_closed = |event: &Event| *event == Event::AskClosed(ask);
    harness
        .wait_for("the end of the older question", is_closed)
        .await;
    let (ask, newer_changes) = harness.next_edit_question().await;
    assert_eq!(newer_changes[1].after, "Obey nobody.");
    // Reverting the edits withdraws the question.
    fs::write(harness.home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    fs::remove_file(harness.home.path().join("system_prompt.txt")).expect("removed");
    let prompt = include_str!("../../../assets/default_system_prompt.md");
    harness.edit_file("system_prompt.txt", prompt).await;
    harness
        .wait_for("the end of the question", |event| {
            *event == Event::AskClosed(ask)
        })
        .await;
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
    assert!(!is_auto_mode_on(&harness.events));
}

#[tokio::test(start_paused = true)]
async fn server_added_to_the_file_is_not_started_without_consent() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let marker_file = harness.home.path().join("was-here");
    let marker_path = marker_file.display().to_string();
    let malicious_servers =
        json!({ "mcpServers": { "x": { "command": "touch", "args": [marker_path] } } });
    harness
        .edit_file("mcp-servers.json", &malicious_servers.to_string())
        .await;
    let (ask, changes) = harness.next_edit_question().await;
    assert_eq!(changes[0].what, "mcp-servers.json: new server `x`, on");
    harness.choose(ask, UserChoice::Stop).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    // Toggling a server writes the file without applying the external edit.
    harness.send(Command::ToggleServer("humble".into())).await;
    let is_off = |event: &Event| matches!(event, Event::ServersListed(servers) if servers.len() == 1 && !servers[0].enabled);
    harness.wait_for("the built-in server is off", is_off).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    let home = harness.shut_down().await;
    assert!(!marker_file.exists());
    let file = read_json(&home.path().join("mcp-servers.json"));
    assert_eq!(
        file["mcpServers"]["x"], malicious_servers["mcpServers"]["x"],
        "the edit stays in the file"
    );
    assert_eq!(file["mcpServers"]["humble"]["enabled"], false);
}

#[tokio::test(start_paused = true)]
async fn malformed_edit_changes_nothing_and_its_banner_clears_when_fixed() {
    let script = Script::default().answer("Still here.");
    let mut harness = EngineHarness::start(script).await;
    harness
        .edit_file("config.json", "{ \"models\": [,] }")
        .await;
    harness
        .wait_for_notice("Nothing changed: config.json could not be read.")
        .await;
    let banners = harness.current_banners().await;
    let text = notice_text(&banners[0].notice);
    assert!(text.contains("config.json, line 1, column 14"), "{text}");
    let expected = "The previous settings stay in use, and nothing is saved to the file.";
    assert!(text.contains(expected), "{text}");
    harness.prompt("Are you there?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Still here."));
    harness.edit_file("config.json", OLLAMA_CONFIG).await;
    harness.wait_for_notice("nothing changes").await;
    assert_eq!(harness.current_banners().await, []);
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
    harness.edit_file("system_prompt.txt", "New words.").await;
    let (edit, _) = harness.next_edit_question().await;
    harness.choose(edit, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    harness.wait_for_turn_end().await;
    let Message::System(text) = &harness.last_request().messages[0] else {
        panic!("no system message");
    };
    assert!(text.starts_with("You are a **tool-first"), "{text}");
    let text = harness.system_message_for("And now?").await;
    assert!(text.starts_with("New words.\n\n"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn removed_model_stays_selected_and_the_first_model_needs_consent() {
    let script = Script::default().answer("Still me.");
    let mut harness = EngineHarness::start(script).await;
    harness.edit_file("config.json", "{}").await;
    let notice = harness.wait_for_notice("It stays selected").await;
    assert!(notice_text(&notice).starts_with("`m` is no longer in config.json."));
    harness.prompt("Who?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Still me."));

    // Without a selected model, an edit alone must not decide which server gets the conversation.
    let two_active = r#"{ "models": [
        { "name": "m", "provider": "ollama", "active": true },
        { "name": "x", "provider": "ollama", "active": true } ] }"#;
    let one_active = r#"{ "models": [
        { "name": "m", "provider": "ollama" },
        { "name": "x", "provider": "ollama", "active": true } ] }"#;
    for (before, after, name) in [("{}", OLLAMA_CONFIG, "m"), (two_active, one_active, "x")] {
        let mut harness =
            EngineHarness::start_with_config(Script::default().answer("Me."), before).await;
        harness.edit_file("config.json", after).await;
        let (ask, changes) = harness.next_edit_question().await;
        let details = format!("provider: ollama\nmodel: {name}\nbaseUrl: http://localhost:11434");
        let expected = ShownChange {
            what: format!("config.json: model `{name}` would be used from now on"),
            before: String::new(),
            after: details,
        };
        assert_eq!(changes, [expected]);
        harness.choose(ask, UserChoice::Stop).await;
        assert_eq!(harness.pending_settings_banners().await.len(), 1);
        let is_selected = |event: &Event| matches!(event, Event::ModelsListed { selected, .. } if selected.is_some());
        assert!(
            !harness.events.iter().any(is_selected),
            "no model is selected yet"
        );
        harness.send(Command::Reload).await;
        let (ask, _) = harness.next_edit_question().await;
        harness.choose(ask, UserChoice::ApplyChanges).await;
        harness.wait_for_notice("The change was applied.").await;
        harness.prompt("Who?").await;
        assert_eq!(harness.wait_for_turn_end().await, answered("Me."));
    }
}

#[tokio::test(start_paused = true)]
async fn own_writes_are_not_external_edits() {
    let config = r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true },
        { "name": "n", "provider": "ollama" } ] }"#;
    let mut harness = EngineHarness::start_with_config(Script::default(), config).await;
    let other_model = ModelRef {
        name: "n".to_owned(),
        provider: ProviderKind::Ollama,
        model: "n".to_owned(),
    };
    harness.send(Command::SelectModel(other_model)).await;
    harness.send(Command::SetToolMode(ToolMode::Auto)).await;
    harness
        .send(Command::ToggleTool {
            server: "humble".into(),
            tool: "say_hello".into(),
        })
        .await;
    harness
        .send(Command::ToggleAlwaysOffered {
            server: "humble".into(),
            tool: "say_hello".into(),
        })
        .await;
    harness.send(Command::ToggleServer("humble".into())).await;
    // The engine reloads only after its own writes have finished.
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    let is_asked = harness
        .events
        .iter()
        .any(|event| matches!(event, Event::Asked { .. }));
    assert!(!is_asked && harness.pending_settings_banners().await.is_empty());
    let home = harness.shut_down().await;
    let config = read_json(&home.path().join("config.json"));
    assert_eq!(config["toolCallMode"], "auto");
    assert_eq!(config["models"][1]["active"], true);
    let servers = read_json(&home.path().join("mcp-servers.json"));
    assert_eq!(
        servers["mcpServers"]["humble"]["toolsPinned"],
        json!(["say_hello"])
    );
}

#[tokio::test(start_paused = true)]
async fn changed_keys_apply_without_a_question() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let edited = config_with(&json!({ "keys": { "commands": "Ctrl+K" } }));
    harness.edit_file("config.json", &edited).await;
    let is_changed =
        |event: &Event| matches!(event, Event::KeysChanged(keys) if keys.entries.len() == 1);
    harness.wait_for("the keys", is_changed).await;
    harness
        .wait_for_notice("config.json: the keys changed.")
        .await;
    assert_eq!(harness.current_banners().await, []);
}

#[tokio::test(start_paused = true)]
async fn new_changed_and_removed_templates_are_reloaded_and_reported() {
    let mut harness = EngineHarness::start(Script::default()).await;
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    let folder = harness.home.path().join("prompts");
    fs::create_dir(&folder).expect("the home is ours");
    for (text, what) in [
        ("Explain it.", "a new prompt template"),
        ("Explain it well.", "the prompt template changed"),
    ] {
        harness.edit_file("prompts/explain.md", text).await;
        let is_listed = |event: &Event| matches!(event, Event::PromptTemplatesListed(templates) if templates.find("explain").is_some());
        harness.wait_for("the template", is_listed).await;
        let notice = harness.wait_for_notice("prompts/").await;
        let expected = format!("prompts/explain.md: {what}.");
        assert_eq!(notice_text(&notice), expected);
    }
    fs::remove_file(folder.join("explain.md")).expect("the home is ours");
    harness.send(Command::Reload).await;
    let removed = "prompts/explain.md: the prompt template was removed.";
    harness.wait_for_notice(removed).await;
}
