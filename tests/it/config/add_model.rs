//! Adding models to `config.json`.

use super::*;
use humble::domain::model::{ApiKey, Secret};
use humble::domain::{ModelServer, NewModel};

fn new_model(name: &str, provider: ProviderKind) -> NewModel {
    NewModel {
        name: name.to_owned(),
        model: name.to_owned(),
        provider,
        base_url: None,
        api_key: None,
        copy_from: None,
    }
}

#[test]
fn the_first_model_creates_the_file_and_is_active() {
    let fixture = config_fixture();
    config::add_model(&fixture.home, &new_model("qwen3:4b", ProviderKind::Ollama)).unwrap();
    let expected = "{\n  \"models\": [{ \"name\": \"qwen3:4b\", \"provider\": \"ollama\", \"active\": true }]\n}\n";
    assert_eq!(fixture.config_text(), expected);
    assert!(has_mode(&fixture.home.config(), 0o600));
    assert_eq!(
        fixture
            .settings()
            .active_model()
            .map(|model| model.name.as_str()),
        Some("qwen3:4b")
    );
}

#[test]
fn adding_a_model_changes_only_the_active_flag_of_others() {
    let text = "{ \"zeta\": 1.50,\r\n\t\"models\": [\r\n\t\t{\"name\":\"a\",\"provider\":\"ollama\",\"active\":true , \"x\":0},\r\n\t\t7\r\n\t], \"alpha\": null }";
    let fixture = with_config(text);
    let mut model = new_model("sonnet", ProviderKind::Anthropic);
    model.model = "claude-sonnet-4-5".to_owned();
    model.api_key = Some(Secret::new("${ANTHROPIC_API_KEY}"));
    config::add_model(&fixture.home, &model).unwrap();
    let added = "{ \"name\": \"sonnet\", \"model\": \"claude-sonnet-4-5\", \"provider\": \"anthropic\", \"apiKey\": \"${ANTHROPIC_API_KEY}\", \"active\": true }";
    let expected = text
        .replace("\"active\":true", "\"active\":false")
        .replace("\t\t7", &format!("\t\t7,\r\n\t\t{added}"));
    assert_eq!(fixture.config_text(), expected);
}

#[test]
fn a_copied_model_keeps_the_url_and_the_key_reference() {
    let text = r#"{"models":[{"name":"a","provider":"openai","baseUrl":"https://h/v1/","apiKey":"${MINE}","caFile":"ca.pem","think":true}]}"#;
    let fixture = with_config(text);
    let mut model = new_model("b", ProviderKind::OpenAi);
    model.copy_from = Some(reference("a", ProviderKind::OpenAi));
    config::add_model(&fixture.home, &model).unwrap();
    let settings = fixture.settings();
    let (first, second) = (&settings.models[0], &settings.models[1]);
    assert_eq!(second.base_url, first.base_url);
    assert_eq!(second.api_key, ApiKey::Known(Secret::new("sk-mine")));
    assert_eq!(second.ca_file, first.ca_file);
    assert_eq!((second.think, second.active), (None, true));
    assert!(
        !fixture.config_text().contains("sk-mine"),
        "the variable is not expanded in the file"
    );
}

#[test]
fn a_null_empty_or_missing_list_gets_the_model() {
    for text in [r#"{"models":null}"#, r#"{"models":[]}"#, r#"{"x":1}"#] {
        let fixture = with_config(text);
        config::add_model(&fixture.home, &new_model("a", ProviderKind::Ollama)).unwrap();
        assert_eq!(fixture.settings().models.len(), 1, "{text}");
    }
}

#[test]
fn a_file_that_cannot_take_the_model_is_not_modified() {
    for text in [
        r#"{"models":{"name":"a"}}"#,
        r#"{"models":[{"name":"a","provider":"ollama"}]}"#,
        r#"{"models":["#,
        "",
    ] {
        let fixture = with_config(text);
        let error = config::add_model(&fixture.home, &new_model("a", ProviderKind::Ollama));
        let message = notice_text(&error.unwrap_err().notice());
        assert!(message.contains("config.json"), "{message}");
        assert_eq!(fixture.config_text(), text);
    }
}

#[test]
fn a_model_is_not_added_a_second_time_under_another_name() {
    let text = r#"{"models":[{"name":"fast","model":"a:latest","provider":"ollama"},
        {"name":"far","model":"b","provider":"ollama","baseUrl":"http://far:1"}]}"#;
    let fixture = with_config(text);
    let error = config::add_model(&fixture.home, &new_model("a", ProviderKind::Ollama));
    let message = notice_text(&error.unwrap_err().notice());
    assert!(message.contains("already lists `fast`"), "{message}");
    assert_eq!(fixture.config_text(), text);
    // The same name on another server is another model.
    config::add_model(&fixture.home, &new_model("b", ProviderKind::Ollama)).unwrap();
    assert_eq!(fixture.settings().models.len(), 3);
}

#[test]
fn a_new_model_is_checked_like_an_entry_of_the_file() {
    let fixture = config_fixture();
    let mut model = new_model("m", ProviderKind::OpenAi);
    model.base_url = Some("localhost:8080".to_owned());
    model.api_key = Some(Secret::new("sk-typed"));
    let parsed = config::parse_new_model(&fixture.home, &model).unwrap();
    assert_eq!(parsed.base_url, "http://localhost:8080/v1");
    assert_eq!(parsed.api_key, ApiKey::Known(Secret::new("sk-typed")));
    model.base_url = Some("example.com".to_owned());
    let error = config::parse_new_model(&fixture.home, &model).unwrap_err();
    assert!(error.contains("has no scheme"), "{error}");
}

#[test]
fn models_with_one_url_share_a_server_and_a_usable_key_is_preferred() {
    let text = r#"{"models":[
        {"name":"a","provider":"openai","baseUrl":"https://u:secret@h/v1","apiKey":"${GONE}"},
        {"name":"b","provider":"ollama"},
        {"name":"c","provider":"openai","baseUrl":"https://h","apiKey":"sk-1"}]}"#;
    let servers = config::model_servers(&with_config(text).settings().models);
    let listed: Vec<_> = servers
        .iter()
        .map(|server| {
            let names = server
                .catalog
                .configured
                .iter()
                .map(|model| model.name.as_str());
            (
                server.catalog.server.clone(),
                server.config.name.as_str(),
                names.collect::<Vec<_>>(),
            )
        })
        .collect();
    let server = |provider, url: &str| ModelServer {
        provider,
        url: url.to_owned(),
    };
    let expected = [
        (
            server(ProviderKind::OpenAi, "https://h/v1"),
            "c",
            vec!["a", "c"],
        ),
        (
            server(ProviderKind::Ollama, "http://localhost:11434"),
            "b",
            vec!["b"],
        ),
    ];
    assert_eq!(listed, expected);
}
