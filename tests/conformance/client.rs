//! The client that the conformance suite tests. It consists only of this crate's hub. The suite
//! selects the calls by environment variables; the last argument is the URL of the server. If the
//! server requires it, the client signs in, with a plain GET request in place of a browser.

#[path = "../support/fixtures.rs"]
mod fixtures;

use humble::app::built_in_server;
use humble::config::Home;
use humble::domain::elicitation::{FieldInput, FieldKind, FormField};
use humble::domain::model::Secret;
use humble::domain::server::{OAuthSettings, ProtocolMode, RemoteTransport};
use humble::domain::{
    Arguments, BuiltInSettings, CallId, ElicitationForm, SampledAnswer, Server, ServerConfig,
    ServerRequest, ServerRequestReply, ServerStatus, ToolOutcome,
};
use humble::mcp::{Hub, HubEvent, McpCall, SignInProgress};
use humble::provider::Provider;
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const CLIENT_METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to stay connected after the last call, because some scenarios check that, for example,
/// a stream stays open.
const SETTLE_TIME: Duration = Duration::from_millis(300);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let protocol = match variable("MCP_CONFORMANCE_PROTOCOL_VERSION").as_str() {
        "" => ProtocolMode::Auto,
        version if version >= "2026" => ProtocolMode::Modern,
        _ => ProtocolMode::Legacy,
    };
    let context: Value =
        serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let (sender, mut events) = mpsc::channel(64);
    let mut hub = Hub::new(
        sender,
        built_in_server(
            &Home::at("/nonexistent"),
            BuiltInSettings::default(),
            Provider::new(),
        ),
    );
    hub.configure(vec![config(url, protocol, &context)]);
    let result = timeout(WAIT_TIMEOUT, run(&mut hub, &mut events, &context)).await;
    let shutdown = hub.shutdown();
    // Keep reading events, because the hub waits while the channel is full.
    tokio::select! {
        () = shutdown => {}
        () = async { while events.recv().await.is_some() {} } => {}
    }
    result?
}

fn config(url: String, protocol: ProtocolMode, context: &Value) -> ServerConfig {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let private_key = text("private_key_pem").map(Secret::new);
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    ServerConfig {
        protocol,
        oauth: OAuthSettings {
            client_id: text("client_id"),
            client_secret: text("client_secret").map(Secret::new),
            uses_client_credentials: scenario.starts_with("auth/client-credentials"),
            private_key,
            issuer: text("issuer"),
            // The suite expects this address, at which it serves nothing.
            client_metadata_url: (scenario == "auth/basic-cimd")
                .then(|| CLIENT_METADATA_URL.to_owned()),
            ..OAuthSettings::default()
        },
        ..fixtures::server_config("suite", fixtures::remote(&url, RemoteTransport::Http, &[]))
    }
}

async fn run(
    hub: &mut Hub,
    events: &mut mpsc::Receiver<HubEvent>,
    context: &Value,
) -> Result<(), Box<dyn Error>> {
    let server = wait_until_connected(hub, events).await?;
    for (tool, arguments) in requested_calls(&server, context) {
        loop {
            let call = McpCall {
                id: CallId(1),
                server: server.id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                pin: None,
                task: None,
            };
            let pending_call = hub.call(call, CancellationToken::new());
            let answering = async {
                while let Some(event) = events.recv().await {
                    answer_request(hub, event);
                }
            };
            let outcome = tokio::select! {
                outcome = pending_call => outcome,
                () = answering => return Ok(()),
            };
            println!("{tool}: {outcome:?}");
            match outcome {
                // The server may want a sign-in with more scopes.
                ToolOutcome::Unreachable { why, .. } if !why.contains("sign in") => {
                    return Err(why.into());
                }
                ToolOutcome::Unreachable { .. } => {
                    wait_until_connected(hub, events).await?;
                }
                _ => break,
            }
        }
    }
    sleep(SETTLE_TIME).await;
    Ok(())
}

/// Answers a request of the server: sampling with a fixed text, a form with [`example_inputs`], and
/// a web page by accepting it.
fn answer_request(hub: &Hub, event: HubEvent) {
    let HubEvent::Requested { id, request, .. } = event else {
        return;
    };
    println!("{request:?}");
    if let ServerRequest::Sampling(_) = request {
        let answer = SampledAnswer {
            model: "conformance".to_owned(),
            text: "An answer.".to_owned(),
            calls: Vec::new(),
            is_cut_off: false,
        };
        return hub.reply(id, ServerRequestReply::Sampled(answer));
    }
    let values = match request {
        ServerRequest::Form(form) => form.answer(&example_inputs(&form)),
        _ => Ok(serde_json::Map::new()),
    };
    hub.reply(
        id,
        values.map_or(ServerRequestReply::Cancelled, ServerRequestReply::Accepted),
    );
}

/// The defaults, and a value for each required field without one.
fn example_inputs(form: &ElicitationForm) -> Vec<FieldInput> {
    let fields = form.fields.iter();
    let input = |field: &FormField| match (&field.kind, field.check(&field.initial)) {
        (_, Ok(_)) => field.initial.clone(),
        (FieldKind::Text(_), _) => FieldInput::Text("some text".to_owned()),
        (FieldKind::Number(_), _) => FieldInput::Text("5".to_owned()),
        (FieldKind::Boolean, _) => FieldInput::Flag(Some(true)),
        (FieldKind::Choice(_) | FieldKind::Choices { .. }, _) => FieldInput::Selected(vec![0]),
    };
    fields.map(input).collect()
}

async fn wait_until_connected(
    hub: &mut Hub,
    events: &mut mpsc::Receiver<HubEvent>,
) -> Result<Server, Box<dyn Error>> {
    loop {
        let server = hub.servers().into_iter().next().ok_or("no server")?;
        match &server.status {
            ServerStatus::Connected => return Ok(server),
            ServerStatus::Failed(notice) => return Err(notice.summary().into()),
            ServerStatus::NeedsSignIn(_) => sign_in(hub, events, &server).await?,
            _ => drop(events.recv().await.ok_or("the hub ended")?),
        }
    }
}

/// Signs in and waits until the hub begins to reconnect. In place of a browser, this program
/// requests the address itself and pastes the address to which it is redirected.
async fn sign_in(
    hub: &mut Hub,
    events: &mut mpsc::Receiver<HubEvent>,
    server: &Server,
) -> Result<(), Box<dyn Error>> {
    let sign_in = hub.prepare_sign_in(&server.id).await?;
    let browser = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let response = browser.get(&sign_in.request().url).send().await?;
    let callback = response.headers().get("location").ok_or("no redirect")?;
    let (paste, pasted) = mpsc::channel(1);
    paste.send(callback.to_str()?.to_owned()).await?;
    let mut rejection = None;
    let finishing = sign_in.finish(pasted, |progress| {
        if let SignInProgress::AddressRejected(error) = progress {
            rejection = Some(error);
        }
    });
    timeout(SIGN_IN_TIMEOUT, finishing).await??;
    if let Some(error) = rejection {
        return Err(error.into());
    }
    while events.try_recv().is_ok() {}
    hub.reconnect(&server.id);
    let restarting = async {
        while let Some(event) = events.recv().await {
            if matches!(event, HubEvent::Changed(server) if server.status == ServerStatus::Starting)
            {
                break;
            }
        }
    };
    Ok(timeout(SIGN_IN_TIMEOUT, restarting).await?)
}

/// The calls that the suite requests; without a request, one call of every tool.
fn requested_calls(server: &Server, context: &Value) -> Vec<(String, Arguments)> {
    if let Some(calls) = context["toolCalls"].as_array() {
        return calls
            .iter()
            .filter_map(|call| {
                let name = call["name"].as_str()?.to_owned();
                let arguments = call["arguments"].as_object().cloned();
                Some((name, arguments.unwrap_or_default().into()))
            })
            .collect();
    }
    server
        .tools
        .iter()
        .map(|tool| {
            (
                tool.name.clone(),
                example_arguments(&Value::Object(tool.input_schema.clone()), server),
            )
        })
        .collect()
}

fn example_arguments(schema: &Value, server: &Server) -> Arguments {
    let properties = schema["properties"].as_object().cloned();
    properties
        .unwrap_or_default()
        .into_iter()
        .map(|(name, property)| {
            let value = match property["type"].as_str() {
                Some("number" | "integer") => json!(5),
                Some("boolean") => json!(true),
                // A tool that expects a schema gets the first tool's schema, unchanged.
                Some("object") if name == "schema" => {
                    json!(server.tools.first().map(|tool| &tool.input_schema))
                }
                Some("object") => json!({}),
                Some("array") => json!([]),
                _ => json!("some text"),
            };
            (name, value)
        })
        .collect()
}
