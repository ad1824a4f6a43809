//! Follows one task until it has a result. Dropping the future asks the server to cancel the task,
//! unless the task is kept; the server may ignore that.

use super::polling::PollSchedule;
use super::request::{TaskRequestError, exchange, send_without_waiting};
use super::wire::{TaskState, TaskStatus};
use crate::domain::{CallId, ServerId, ServerTask, TaskProtocol, ToolProgress};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::server_requests::{INPUT_ROUNDS_MAX, InputRequired, answer_input_requests};
use crate::mcp::session::McpSession;
use crate::mcp::supervisor::ServerSupervisor;
use futures::future::{BoxFuture, FutureExt, pending};
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, CustomRequest, GetTaskParams,
    GetTaskRequest, ProgressToken, UpdateTaskParams, UpdateTaskRequest,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How much longer a task may take that the user left running.
const LEFT_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The call whose task is followed.
pub struct TaskCall<'a> {
    pub id: CallId,
    pub server: &'a ServerId,
    pub supervisor: &'a ServerSupervisor,
    pub events: &'a mpsc::Sender<HubEvent>,
    /// Time limit for the task, not counting the time that the user takes to answer.
    pub time_max: Duration,
    /// Identifies the progress notifications of the call.
    pub progress_token: Option<ProgressToken>,
}

#[derive(Debug, PartialEq)]
pub enum TaskEnd {
    Result(Value),
    /// Why there is no result, as a sentence.
    Failed(String),
    Unreachable(String),
    TimedOut,
}

type Answers = Result<BTreeMap<String, Value>, String>;

struct FollowedTask<'a> {
    call: TaskCall<'a>,
    /// The newest session of the server, which may have been restarted since the call.
    session: McpSession,
    task: ServerTask,
    schedule: PollSchedule,
    next_poll_at: Instant,
    last_poll_at: Instant,
    deadline: Instant,
    /// Whether the deadline includes [`LEFT_TIME_MAX`].
    is_extended: bool,
    progress: Option<watch::Receiver<Option<ToolProgress>>>,
    /// Resolves to the user's answers for the server. Set while the user is asked.
    answering: Option<BoxFuture<'static, Answers>>,
    /// The request `tasks/result` of a task that needs input. It is open while the user is asked,
    /// because a server may send its questions in the stream of the response.
    awaited_result: Option<BoxFuture<'static, Result<Value, TaskRequestError>>>,
    /// Answers that have not reached the server.
    unsent_answers: Option<BTreeMap<String, Value>>,
    /// The keys of the input requests that the user has already been asked.
    asked: HashSet<String>,
    input_rounds: usize,
    /// Whether the server has stopped working on the task.
    is_over: bool,
}

impl Drop for FollowedTask<'_> {
    fn drop(&mut self) {
        let shared = &self.session.shared;
        if let Some(token) = &self.call.progress_token {
            shared.progress.unsubscribe(token);
        }
        let kept = &self.call.supervisor.context.kept_tasks;
        let is_kept = kept.take(self.call.id);
        if !self.is_over && !is_kept && !shared.outcome.has_ended() {
            let params = CancelTaskParams::new(self.task.id());
            let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(params));
            send_without_waiting(&self.session, request);
            shared.cancelled.note_cancellation();
        }
    }
}

/// Follows `task` until it ends. `first_state` is the state that the server sent with the task.
pub async fn follow_task(
    call: TaskCall<'_>,
    session: McpSession,
    task: ServerTask,
    first_state: Option<TaskState>,
) -> TaskEnd {
    let now = Instant::now();
    let token = call.progress_token.clone();
    let tool_timeout = call.supervisor.tool_timeout();
    let mut followed = FollowedTask {
        deadline: now + call.time_max,
        is_extended: false,
        progress: token.map(|token| session.shared.progress.subscribe(token)),
        call,
        session,
        task,
        schedule: PollSchedule::new(tool_timeout),
        next_poll_at: now,
        last_poll_at: now,
        answering: None,
        awaited_result: None,
        unsent_answers: None,
        asked: HashSet::new(),
        input_rounds: 0,
        is_over: false,
    };
    let event = HubEvent::TaskStarted {
        call: followed.call.id,
        task: followed.task.clone(),
    };
    // This event must not be lost: without the id in it, the task cannot be found again.
    let _ = followed.call.events.send(event).await;
    if let Some(state) = first_state
        && let Some(end) = followed.handle_state(state).await
    {
        return end;
    }
    followed.run().await
}

/// Waits forever if there is no future.
async fn output_of<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

impl FollowedTask<'_> {
    async fn run(mut self) -> TaskEnd {
        loop {
            let end = tokio::select! {
                biased;
                answers = output_of(&mut self.answering) => {
                    self.answering = None;
                    self.send_answers(answers).await
                }
                result = output_of(&mut self.awaited_result) => {
                    self.awaited_result = None;
                    self.handle_result(result).await
                }
                () = sleep_until(self.deadline) => self.handle_deadline(),
                () = sleep_until(self.next_poll_at) => self.poll().await,
            };
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// Whether the user is being asked, so that the deadline does not apply.
    fn is_asking(&self) -> bool {
        let incoming = &self.session.shared.incoming_requests;
        self.answering.is_some() || *incoming.open_questions().borrow() > 0
    }

    fn handle_deadline(&mut self) -> Option<TaskEnd> {
        let is_left = self
            .call
            .supervisor
            .context
            .kept_tasks
            .is_left(self.call.id);
        if is_left && !std::mem::replace(&mut self.is_extended, true) {
            self.deadline += LEFT_TIME_MAX;
        } else if self.is_asking() {
            self.deadline = Instant::now() + self.schedule.interval();
        } else {
            return Some(TaskEnd::TimedOut);
        }
        None
    }

    fn schedule_poll(&mut self) {
        let now = Instant::now();
        self.next_poll_at = self.schedule.next_poll_at(now, self.deadline);
    }

    async fn poll(&mut self) -> Option<TaskEnd> {
        if self.is_asking() {
            self.deadline += self.last_poll_at.elapsed();
        }
        self.last_poll_at = Instant::now();
        self.schedule.record_poll();
        if self.session.shared.outcome.has_ended() {
            match self.call.supervisor.session().await {
                Ok(session) => self.session = session,
                Err(why) => return self.handle_failure(TaskRequestError::Unanswered(why)),
            }
        }
        if let Some(answers) = self.unsent_answers.take() {
            return self.send_answers(Ok(answers)).await;
        }
        let params = GetTaskParams::new(self.task.id());
        let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(params));
        match exchange(&self.session, request, Some(REQUEST_TIMEOUT)).await {
            Ok(state) => self.handle_state(TaskState::from_json(&state)).await,
            Err(error) => self.handle_failure(error),
        }
    }

    async fn handle_state(&mut self, state: TaskState) -> Option<TaskEnd> {
        if let TaskStatus::Unknown(status) = &state.status {
            let why = match status {
                Some(status) => format!("it reports the unknown status `{status}`"),
                None => "it reports no status".to_owned(),
            };
            return self.handle_failure(TaskRequestError::Refused(why));
        }
        // A legacy task has a result only after `tasks/result`. Until then, failed requests keep
        // counting.
        let needs_result = self.task.protocol == TaskProtocol::Legacy
            && matches!(state.status, TaskStatus::Completed | TaskStatus::Failed);
        if !needs_result {
            self.schedule.record_state(state.poll_interval);
        }
        self.schedule_poll();
        self.report(&state.summary());
        match state.status {
            TaskStatus::Working | TaskStatus::Unknown(_) => None,
            TaskStatus::InputRequired => self.ask(state),
            _ if needs_result => {
                self.is_over = true;
                let request = self.result_request();
                let result = exchange(&self.session, request, Some(REQUEST_TIMEOUT)).await;
                match result {
                    // The error of the call itself.
                    Err(TaskRequestError::Refused(why) | TaskRequestError::UnknownTask(why))
                        if state.status == TaskStatus::Failed =>
                    {
                        Some(TaskEnd::Failed(why))
                    }
                    result => self.handle_result(result).await,
                }
            }
            TaskStatus::Completed => Some(match state.result {
                Some(result) => self.end(TaskEnd::Result(result)),
                None => self.end(TaskEnd::Failed(
                    "The server reports the task as completed, but sent no result.".to_owned(),
                )),
            }),
            TaskStatus::Failed => Some(self.end(TaskEnd::Failed(state.failure_text()))),
            TaskStatus::Cancelled => {
                let text = format!("The server cancelled the task{}", state.message_clause());
                Some(self.end(TaskEnd::Failed(text)))
            }
        }
    }

    fn end(&mut self, end: TaskEnd) -> TaskEnd {
        self.is_over = true;
        end
    }

    async fn handle_result(&mut self, result: Result<Value, TaskRequestError>) -> Option<TaskEnd> {
        match result {
            Ok(result) => Some(self.end(TaskEnd::Result(result))),
            Err(error) => self.handle_failure(error),
        }
    }

    fn handle_failure(&mut self, error: TaskRequestError) -> Option<TaskEnd> {
        let why = error.clause();
        let server = self.call.server;
        tracing::warn!("a request about a task of server `{server}` failed: {why}");
        if let TaskRequestError::UnknownTask(_) = error {
            self.is_over = true;
            return Some(TaskEnd::Failed(format!(
                "The server no longer recognizes the task: {why}. Its result is lost."
            )));
        }
        if !self.schedule.record_failure() {
            let pause = self.schedule.interval();
            self.schedule_poll();
            let retry = self.schedule.next_retry().unwrap_or_default();
            let seconds = pause.as_secs();
            self.report(&format!("asking again in {seconds} s ({retry}): {why}"));
            return None;
        }
        let consequence = match self.is_over {
            true => "Its result is lost.",
            false => "It is not known whether the task still runs.",
        };
        let text = format!("The server's task could not be followed: {why}. {consequence}");
        Some(match error {
            TaskRequestError::Refused(_) | TaskRequestError::UnknownTask(_) => {
                TaskEnd::Failed(text)
            }
            TaskRequestError::Unanswered(_) => TaskEnd::Unreachable(text),
        })
    }

    fn result_request(&self) -> ClientRequest {
        let params = json!({ "taskId": self.task.id() });
        ClientRequest::CustomRequest(CustomRequest::new("tasks/result", Some(params)))
    }

    /// Asks the user for the required input, except for requests that were already asked. A legacy
    /// server asks by itself, once `tasks/result` is requested.
    fn ask(&mut self, state: TaskState) -> Option<TaskEnd> {
        if self.task.protocol == TaskProtocol::Legacy {
            if self.awaited_result.is_none() {
                let (session, request) = (self.session.clone(), self.result_request());
                let result = async move { exchange(&session, request, None).await };
                self.awaited_result = Some(result.boxed());
            }
            return None;
        }
        let mut requests = state.input_requests;
        requests.retain(|key, _| !self.asked.contains(key));
        if requests.is_empty() || self.answering.is_some() {
            return None;
        }
        self.input_rounds += 1;
        if self.input_rounds > INPUT_ROUNDS_MAX {
            return Some(TaskEnd::Failed(format!(
                "The server asked for input more than {INPUT_ROUNDS_MAX} times in one call."
            )));
        }
        self.asked.extend(requests.keys().cloned());
        let broker = self.call.supervisor.context.requests.clone();
        let (server, required) = (
            self.call.server.clone(),
            InputRequired::from_requests(requests),
        );
        let answers = async move { answer_input_requests(&required, &broker, &server).await };
        self.answering = Some(answers.boxed());
        None
    }

    async fn send_answers(&mut self, answers: Answers) -> Option<TaskEnd> {
        let answers = match answers {
            Ok(answers) => answers,
            Err(why) => return Some(TaskEnd::Failed(why)),
        };
        let params = UpdateTaskParams::new(self.task.id(), answers.clone());
        let request = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        match exchange(&self.session, request, Some(REQUEST_TIMEOUT)).await {
            Ok(_) => {
                self.schedule_poll();
                None
            }
            Err(error) => {
                self.unsent_answers = Some(answers);
                self.handle_failure(error)
            }
        }
    }

    /// Reports the status with the newest progress of the call.
    fn report(&self, status: &str) {
        let latest = self
            .progress
            .as_ref()
            .and_then(|progress| progress.borrow().clone());
        let (done, total) = latest.map_or((0.0, None), |latest| (latest.done, latest.total));
        let progress = ToolProgress::new(done, total, Some(status));
        let call = self.call.id;
        // Each report is a snapshot, so dropping one if the queue is full loses nothing.
        let _ = self
            .call
            .events
            .try_send(HubEvent::Progress { call, progress });
    }
}
