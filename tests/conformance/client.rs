//! The client that the conformance suite tests. It consists only of this crate's hub. The suite
//! selects the calls by environment variables; the last argument is the URL of the server.

#[path = "../support/fixtures.rs"]
mod fixtures;

use humble::app::built_in_server;
use humble::config::Home;
use humble::domain::elicitation::{FieldInput, FieldKind, FormField};
use humble::domain::server::{ProtocolMode, RemoteTransport};
use humble::domain::{
    Arguments, BuiltInSettings, CallId, ElicitationForm, Server, ServerConfig, ServerRequest,
    ServerRequestReply, ServerStatus, ToolOutcome,
};
use humble::mcp::{Hub, HubEvent, McpCall};
use humble::provider::Provider;
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
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
    hub.configure(vec![config(url, protocol)]);
    let result = timeout(WAIT_TIMEOUT, run(&hub, &mut events, &context)).await;
    let shutdown = hub.shutdown();
    // Keep reading events, because the hub waits while the channel is full.
    tokio::select! {
        () = shutdown => {}
        () = async { while events.recv().await.is_some() {} } => {}
    }
    result?
}

fn config(url: String, protocol: ProtocolMode) -> ServerConfig {
    ServerConfig {
        protocol,
        ..fixtures::server_config("suite", fixtures::remote(&url, RemoteTransport::Http, &[]))
    }
}

async fn run(
    hub: &Hub,
    events: &mut mpsc::Receiver<HubEvent>,
    context: &Value,
) -> Result<(), Box<dyn Error>> {
    let server = wait_until_connected(hub, events).await?;
    for (tool, arguments) in requested_calls(&server, context) {
        let call = McpCall {
            id: CallId(1),
            server: server.id.clone(),
            tool: tool.clone(),
            arguments,
            pin: None,
        };
        let pending_call = hub.call(call, CancellationToken::new());
        let answering = async {
            while let Some(event) = events.recv().await {
                answer_request(hub, event);
            }
        };
        let outcome = tokio::select! {
            outcome = pending_call => outcome,
            () = answering => break,
        };
        println!("{tool}: {outcome:?}");
        if let ToolOutcome::Unreachable { why, .. } = outcome {
            return Err(why.into());
        }
    }
    sleep(SETTLE_TIME).await;
    Ok(())
}

/// Accepts what a server asks for: a form with its defaults, and a web page.
fn answer_request(hub: &Hub, event: HubEvent) {
    let HubEvent::Requested { id, request, .. } = event else {
        return;
    };
    println!("{request:?}");
    let values = match request {
        ServerRequest::Form(form) => form.answer(&example_inputs(&form)),
        ServerRequest::Url(_) => Ok(Arguments::new()),
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
    hub: &Hub,
    events: &mut mpsc::Receiver<HubEvent>,
) -> Result<Server, Box<dyn Error>> {
    loop {
        let server = hub.servers().into_iter().next().ok_or("no server")?;
        match &server.status {
            ServerStatus::Connected => return Ok(server),
            ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice) => {
                return Err(notice.summary().into());
            }
            _ => events.recv().await.ok_or("the hub ended")?,
        };
    }
}

/// The calls that the suite requests; without a request, one call of every tool.
fn requested_calls(server: &Server, context: &Value) -> Vec<(String, Arguments)> {
    if let Some(calls) = context["toolCalls"].as_array() {
        return calls
            .iter()
            .filter_map(|call| {
                let name = call["name"].as_str()?.to_owned();
                let arguments = call["arguments"].as_object().cloned();
                Some((name, arguments.unwrap_or_default()))
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

/// Valid arguments for a schema: one value for each property.
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
