//! Adding models to `config.json`.

use super::*;
use humble::domain::model::{ApiKey, Secret};
use humble::domain::{ModelServer, NewModel};

fn new(name: &str, provider: ProviderKind) -> NewModel {
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
    let place = config_fixture();
    config::add_model(&place.home, &new("qwen3:4b", ProviderKind::Ollama)).unwrap();
    let expected = "{\n  \"models\": [{ \"name\": \"qwen3:4b\", \"provider\": \"ollama\", \"active\": true }]\n}\n";
    assert_eq!(place.config_text(), expected);
    assert!(has_mode(&place.home.config(), 0o600));
    assert_eq!(
        place
            .settings()
            .active_model()
            .map(|model| model.name.as_str()),
        Some("qwen3:4b")
    );
}

#[test]
fn another_model_changes_only_the_active_flag_elsewhere() {
    let text = "{ \"zeta\": 1.50,\r\n\t\"models\": [\r\n\t\t{\"name\":\"a\",\"provider\":\"ollama\",\"active\":true , \"x\":0},\r\n\t\t7\r\n\t], \"alpha\": null }";
    let place = with_config(text);
    let mut model = new("sonnet", ProviderKind::Anthropic);
    model.model = "claude-sonnet-4-5".to_owned();
    model.api_key = Some(Secret::new("${ANTHROPIC_API_KEY}"));
    config::add_model(&place.home, &model).unwrap();
    let added = "{ \"name\": \"sonnet\", \"model\": \"claude-sonnet-4-5\", \"provider\": \"anthropic\", \"apiKey\": \"${ANTHROPIC_API_KEY}\", \"active\": true }";
    let expected = text
        .replace("\"active\":true", "\"active\":false")
        .replace("\t\t7", &format!("\t\t7,\r\n\t\t{added}"));
    assert_eq!(place.config_text(), expected);
}

#[test]
fn a_model_like_another_copies_its_url_and_key_verbatim() {
    let text = r#"{"models":[{"name":"a","provider":"openai","baseUrl":"https://h/v1/","apiKey":"${MINE}","caFile":"ca.pem","think":true}]}"#;
    let place = with_config(text);
    let mut model = new("b", ProviderKind::OpenAi);
    model.copy_from = Some(reference("a", ProviderKind::OpenAi));
    config::add_model(&place.home, &model).unwrap();
    let settings = place.settings();
    let (first, second) = (&settings.models[0], &settings.models[1]);
    assert_eq!(second.base_url, first.base_url);
    assert_eq!(second.api_key, ApiKey::Known(Secret::new("sk-mine")));
    assert_eq!(second.ca_file, first.ca_file);
    assert_eq!((second.think, second.active), (None, true));
    assert!(
        !place.config_text().contains("sk-mine"),
        "variables are not expanded"
    );
}

#[test]
fn a_null_or_missing_list_is_created() {
    for text in [r#"{"models":null}"#, r#"{"models":[]}"#, r#"{"x":1}"#] {
        let place = with_config(text);
        config::add_model(&place.home, &new("a", ProviderKind::Ollama)).unwrap();
        assert_eq!(place.settings().models.len(), 1, "{text}");
    }
}

#[test]
fn an_unusable_file_is_not_modified() {
    for text in [
        r#"{"models":{"name":"a"}}"#,
        r#"{"models":[{"name":"a","provider":"ollama"}]}"#,
        r#"{"models":["#,
        "",
    ] {
        let place = with_config(text);
        let fault = config::add_model(&place.home, &new("a", ProviderKind::Ollama));
        let message = notice_text(&fault.unwrap_err().notice());
        assert!(message.contains("config.json"), "{message}");
        assert_eq!(place.config_text(), text);
    }
}

#[test]
fn a_new_model_is_checked_like_an_entry_of_the_file() {
    let place = config_fixture();
    let mut model = new("m", ProviderKind::OpenAi);
    model.base_url = Some("localhost:8080".to_owned());
    model.api_key = Some(Secret::new("sk-typed"));
    let read = config::parse_new_model(&place.home, &model).unwrap();
    assert_eq!(read.base_url, "http://localhost:8080/v1");
    assert_eq!(read.api_key, ApiKey::Known(Secret::new("sk-typed")));
    model.base_url = Some("example.com".to_owned());
    let fault = config::parse_new_model(&place.home, &model).unwrap_err();
    assert!(fault.contains("has no scheme"), "{fault}");
}

#[test]
fn models_with_one_url_share_a_server_and_a_usable_key_is_preferred() {
    let text = r#"{"models":[
        {"name":"a","provider":"openai","baseUrl":"https://u:secret@h/v1","apiKey":"${GONE}"},
        {"name":"b","provider":"ollama"},
        {"name":"c","provider":"openai","baseUrl":"https://h","apiKey":"sk-1"}]}"#;
    let servers = config::model_servers(&with_config(text).settings().models);
    let seen: Vec<_> = servers
        .iter()
        .map(|known| {
            let names = known
                .catalog
                .configured
                .iter()
                .map(|model| model.name.as_str());
            (
                known.catalog.server.clone(),
                known.config.name.as_str(),
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
    assert_eq!(seen, expected);
}
