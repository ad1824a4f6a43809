//! Requests for prompts, resources and completions of arguments. Only the user makes them, and none
//! runs a tool.

use crate::domain::{ArgumentCompletion, ArgumentOwner, ServerId};
use crate::mcp::call::open_request::CancelOnDrop;
use crate::mcp::content::prompt::{PromptContents, prompt_contents};
use crate::mcp::content::result::{ResourceContents, completion_values, resource_contents};
use crate::mcp::hub::Hub;
use crate::mcp::server_requests::{INPUT_ROUNDS_MAX, InputRequired, answer_input_requests};
use crate::mcp::session::pages::stated_lifetime;
use crate::mcp::session::{McpSession, error_clause, raw_result};
use crate::mcp::supervisor::ServerSupervisor;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext,
    GetPromptRequest, GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    Reference,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for a prompt or a resource, once the server is connected.
const CONTENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for completions: later ones would no longer match the user's input.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(3);

impl Hub {
    /// Requests a prompt with these argument values. Opens a session if necessary. The
    /// request is cancelled if the future is dropped.
    ///
    /// # Errors
    /// Why the prompt could not be loaded, as a clause.
    pub fn get_prompt(
        &self,
        server: &ServerId,
        prompt: &str,
        arguments: Vec<(String, String)>,
    ) -> BoxFuture<'static, Result<PromptContents, String>> {
        let arguments: Map<String, Value> = arguments
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let mut params = GetPromptRequestParams::new(prompt);
        params.arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        let answer = self.request_content(server, request, CONTENT_TIMEOUT);
        async move { prompt_contents(&answer.await?) }.boxed()
    }

    /// Reads a resource, unless an earlier result is still valid. Opens a session if necessary. The
    /// request is cancelled if the future is dropped.
    ///
    /// # Errors
    /// Why the resource could not be read, as a clause.
    pub fn read_resource(
        &self,
        server: &ServerId,
        uri: &str,
    ) -> BoxFuture<'static, Result<Vec<ResourceContents>, String>> {
        let supervisor = self.supervisor(server).cloned();
        let recent = supervisor.as_ref();
        if let Some(contents) = recent.and_then(|supervisor| supervisor.recent_reads.get(uri)) {
            return ready(Ok(contents)).boxed();
        }
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        let answer = self.request_content(server, request, CONTENT_TIMEOUT);
        let uri = uri.to_owned();
        async move {
            let result = answer.await?;
            let contents = resource_contents(&result)?;
            if let (Some(supervisor), Some(ttl)) = (supervisor, stated_lifetime(&result)) {
                supervisor.recent_reads.add(&uri, &contents, ttl);
            }
            Ok(contents)
        }
        .boxed()
    }

    /// Subscribes to the changes of a resource that was attached with its current contents. Each
    /// call must be paired with one of [`Hub::unfollow_resource`].
    pub fn follow_resource(&self, server: &ServerId, uri: &str) {
        if let Some(supervisor) = self.supervisor(server) {
            supervisor.followed_resources.follow(uri);
        }
    }

    /// Ends the subscription, unless the resource was attached more than once.
    pub fn unfollow_resource(&self, server: &ServerId, uri: &str) {
        if let Some(supervisor) = self.supervisor(server) {
            supervisor.followed_resources.unfollow(uri);
        }
    }

    /// Ends all subscriptions to resources.
    pub fn unfollow_all_resources(&self) {
        self.supervisors()
            .for_each(|supervisor| supervisor.followed_resources.unfollow_all());
    }

    /// Requests expired lists of tools again. Call when a turn begins.
    pub fn refresh_tools(&self) {
        self.supervisors()
            .for_each(|supervisor| supervisor.tool_use.notify_one());
    }

    /// Requests values for an argument. Waits at most three seconds once the server is connected.
    ///
    /// # Errors
    /// The reason why there are none, as a clause.
    pub fn complete_argument(
        &self,
        completion: ArgumentCompletion,
    ) -> BoxFuture<'static, Result<Vec<String>, String>> {
        let reference = match completion.owner {
            ArgumentOwner::Prompt(name) => Reference::for_prompt(name),
            ArgumentOwner::Template(uri) => Reference::for_resource(uri),
        };
        let argument = ArgumentInfo::new(completion.argument, completion.value);
        let mut params = CompleteRequestParams::new(reference, argument);
        if !completion.others.is_empty() {
            let others = completion.others.into_iter().collect();
            params.context = Some(CompletionContext::with_arguments(others));
        }
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        let answer = self.request_content(&completion.server, request, COMPLETION_TIMEOUT);
        async move { Ok(completion_values(&answer.await?)) }.boxed()
    }

    /// Requests expired lists again. Call when the user opens a list of prompts or resources.
    pub fn refresh_content(&self) {
        self.supervisors()
            .for_each(|supervisor| supervisor.content_use.notify_one());
    }

    fn request_content(
        &self,
        server: &ServerId,
        request: ClientRequest,
        time_limit: Duration,
    ) -> BoxFuture<'static, Result<Value, String>> {
        let supervisor = self.supervisor(server).cloned();
        async move {
            let supervisor = supervisor.ok_or("the server is not running")?;
            run_with_input(&supervisor, request, time_limit).await
        }
        .boxed()
    }
}

/// Sends the request, and repeats it with the user's answers each time the server requires input.
async fn run_with_input(
    supervisor: &Arc<ServerSupervisor>,
    mut request: ClientRequest,
    time_limit: Duration,
) -> Result<Value, String> {
    let session = supervisor.session().await?;
    let server = supervisor.state.borrow().config.id.clone();
    for _ in 0..=INPUT_ROUNDS_MAX {
        let result = exchange(&session, request.clone(), time_limit).await?;
        let Some(required) = InputRequired::from_result(&result) else {
            return Ok(result);
        };
        let (responses, state) = match &mut request {
            ClientRequest::GetPromptRequest(request) => {
                let params = &mut request.params;
                (&mut params.input_responses, &mut params.request_state)
            }
            ClientRequest::ReadResourceRequest(request) => {
                let params = &mut request.params;
                (&mut params.input_responses, &mut params.request_state)
            }
            // Completion requests cannot be repeated with answers.
            _ => return Ok(result),
        };
        let answers = tokio::select! {
            biased;
            error = session.shared.outcome.wait_for_end() => Err(error.to_string()),
            answers = answer_input_requests(&required, &supervisor.context.requests, &server) => {
                answers
            }
        };
        *responses = Some(answers.map_err(|why| why.trim_end_matches('.').to_owned())?);
        *state = required.state;
    }
    Err(format!(
        "the server asked for input more than {INPUT_ROUNDS_MAX} times"
    ))
}

async fn exchange(
    session: &McpSession,
    request: ClientRequest,
    time_limit: Duration,
) -> Result<Value, String> {
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let mut handle = sending.await.map_err(|error| error_clause(&error))?;
    let mut open_request = CancelOnDrop::new(session, handle.id.clone());
    let answer = tokio::select! {
        biased;
        answer = timeout(time_limit, &mut handle.rx) => answer,
        error = session.shared.outcome.wait_for_end() => {
            return Err(error.to_string().trim_end_matches('.').to_owned());
        }
    };
    let Ok(answer) = answer else {
        return Err(format!("no answer within {} s", time_limit.as_secs()));
    };
    open_request.is_answered = true;
    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
    raw_result(answer).map_err(|error| error_clause(&error))
}
