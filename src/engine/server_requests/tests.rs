//! Server requests with a scripted model: both questions, refusals, and stopping.

use super::*;
use crate::config::{Home, Settings};
use crate::domain::{ElicitationForm, ProviderKind, SamplingRequest};
use crate::engine::deps::EngineOptions;
use crate::fixtures::model_config;
use crate::protocol::Block;
use crate::protocol::Event;
use crate::provider::{Provider, Script, ScriptStep};
use serde_json::json;

struct Harness {
    requests: ServerRequests,
    cx: EngineCx,
    model: Arc<ModelConfig>,
    last_id: u64,
}

/// An event sent to the front end, without the details that no test compares.
#[derive(Debug, PartialEq)]
enum Seen {
    AskModel,
    SendAnswer(String),
    Form,
    Closed,
    Notice(String),
    Answering(usize),
}

fn harness(replies: Vec<Vec<ScriptStep>>) -> Harness {
    let provider = Provider::scripted(Script::new(replies));
    let (options, settings) = (EngineOptions::default(), Settings::default());
    let home = Home::at("/nonexistent");
    Harness {
        requests: ServerRequests::default(),
        cx: EngineCx::new(home, provider, options, settings, Default::default(), []),
        model: Arc::new(model_config(ProviderKind::Ollama, "http://localhost:11434")),
        last_id: 0,
    }
}

fn sampling() -> ServerRequest {
    sampling_with_tools(&[])
}

fn sampling_with_tools(names: &[&str]) -> ServerRequest {
    let tools = names.iter();
    let tools = tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let params = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Name a color." } }],
        "tools": tools.collect::<Vec<_>>(),
    });
    let request = SamplingRequest::from_params(&params).expect("a valid request");
    ServerRequest::Sampling(Arc::new(request))
}

fn form() -> ServerRequest {
    let params = json!({ "message": "Agreed?", "requestedSchema": { "properties": {} } });
    let form = ElicitationForm::from_params(&params).expect("a valid form");
    ServerRequest::Form(Arc::new(form))
}

impl Harness {
    fn request(&mut self, server: &str, request: ServerRequest) -> Option<ServerRequestReply> {
        self.request_during(&[], server, request)
    }

    fn request_during(
        &mut self,
        calls: &[u64],
        server: &str,
        request: ServerRequest,
    ) -> Option<ServerRequestReply> {
        self.last_id += 1;
        let id = ServerRequestId(self.last_id);
        let calls = calls.iter().map(|&call| CallId(call)).collect();
        let open = OpenServerRequest::new(id, server.into(), request, calls);
        let model = Arc::clone(&self.model);
        let reply = self.requests.ask(open, Some(&model), &mut self.cx);
        reply.map(|(_, reply)| reply)
    }

    fn choose(&mut self, choice: UserChoice) -> Vec<ReadyReply> {
        let mut newest = None;
        while let Some(event) = self.cx.outbox.pop() {
            if let Event::Asked { ask, .. } = event {
                newest = Some(ask);
            }
        }
        let pending = self.cx.withdraw(newest.expect("a question"));
        let Some(PendingQuestion::ServerRequest(open)) = pending else {
            panic!("{pending:?}");
        };
        let answer = UserAnswer::Choice(choice);
        let context = ContextBudget::default();
        self.requests
            .handle_answer(open, &answer, &context, &mut self.cx)
    }

    async fn finish_job(&mut self) -> Option<ReadyReply> {
        let result = self.cx.jobs.join_next().await.expect("a job");
        match result {
            JobResult::Sampled(open, result) => {
                self.requests.handle_sampled(open, result, &mut self.cx)
            }
            JobResult::Nothing => None,
            other => panic!("{other:?}"),
        }
    }

    fn seen(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        while let Some(event) = self.cx.outbox.pop() {
            seen.push(match event {
                Event::Asked { question, .. } => match question.kind {
                    "ask_model" => Seen::AskModel,
                    "send_model_answer" => Seen::SendAnswer(quoted_text(&question.blocks)),
                    _ => Seen::Form,
                },
                Event::AskClosed(_) => Seen::Closed,
                Event::NoticePosted(notice) => Seen::Notice(notice.what.clone()),
                Event::SamplingChanged(servers) => Seen::Answering(servers.len()),
                other => panic!("{other:?}"),
            });
        }
        seen
    }
}

fn reply(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::end()]
}

#[tokio::test]
async fn the_model_that_was_shown_answers_even_if_another_one_is_selected() {
    let mut harness = harness(vec![reply("Blue.")]);
    harness.request("parcels", sampling());
    let shown = harness.model.name.clone();
    harness.model = Arc::new(ModelConfig {
        name: "other".to_owned(),
        ..ModelConfig::clone(&harness.model)
    });
    assert_eq!(harness.choose(UserChoice::Send), []);
    assert_eq!(harness.finish_job().await, None);
    let replies = harness.choose(UserChoice::Send);
    let [(_, ServerRequestReply::Sampled(answer))] = replies.as_slice() else {
        panic!("{replies:?}");
    };
    assert_eq!(answer.model, shown);
}

#[tokio::test]
async fn the_server_gets_the_answer_only_after_the_second_question() {
    for (choice, is_sent) in [(UserChoice::Send, true), (UserChoice::Decline, false)] {
        let mut harness = harness(vec![reply("Blue.")]);
        harness.request("parcels", sampling());
        assert_eq!(harness.choose(UserChoice::Send), []);
        assert!(harness.cx.jobs.len() == 1, "the model is asked only now");
        assert_eq!(harness.finish_job().await, None);
        let answer = SampledAnswer {
            model: harness.model.name.clone(),
            text: "Blue.".to_owned(),
            calls: Vec::new(),
            is_cut_off: false,
        };
        let expected = match is_sent {
            true => ServerRequestReply::Sampled(answer),
            false => ServerRequestReply::Declined,
        };
        assert_eq!(harness.choose(choice), [(ServerRequestId(1), expected)]);
    }
}

fn call(tool: &str) -> ScriptStep {
    let arguments = json!({ "color": "blue" }).as_object().cloned();
    ScriptStep::call(tool, arguments.expect("an object").into())
}

#[tokio::test]
async fn calls_of_offered_tools_are_part_of_the_answer() {
    let in_text = r#"{"name": "mix", "arguments": {"color": "blue"}}"#;
    for steps in [vec![call("mix"), ScriptStep::end()], reply(in_text)] {
        let mut harness = harness(vec![steps]);
        harness.request("parcels", sampling_with_tools(&["mix"]));
        assert_eq!(harness.choose(UserChoice::Send), []);
        assert_eq!(harness.finish_job().await, None);
        let replies = harness.choose(UserChoice::Send);
        let [(_, ServerRequestReply::Sampled(answer))] = replies.as_slice() else {
            panic!("{replies:?}");
        };
        let [call] = answer.calls.as_slice() else {
            panic!("{answer:?}");
        };
        assert_eq!((call.tool.as_str(), answer.text.as_str()), ("mix", ""));
        assert_eq!(call.arguments["color"], "blue");
        assert_eq!(call.id, "humble_call_1");
    }
}

#[tokio::test]
async fn a_call_to_a_tool_that_the_server_did_not_offer_is_refused() {
    let steps = vec![call("erase"), ScriptStep::end()];
    let mut harness = harness(vec![steps]);
    harness.request("parcels", sampling_with_tools(&["mix"]));
    harness.choose(UserChoice::Send);
    let (_, reply) = harness.finish_job().await.expect("a refusal");
    let why = "The model gave no answer: The model called `erase`, which was not offered.";
    assert_eq!(reply, ServerRequestReply::Refused(why.to_owned()));
}

#[tokio::test]
async fn stopping_the_model_declines_the_request_and_asks_nothing_more() {
    let mut harness = harness(vec![reply("Blue.")]);
    harness.request("parcels", sampling());
    harness.choose(UserChoice::Send);
    let stopped = harness.requests.stop_sampling(&mut harness.cx);
    let declined = (ServerRequestId(1), ServerRequestReply::Declined);
    assert_eq!(stopped, [declined]);
    assert_eq!(harness.finish_job().await, None);
    assert_eq!(
        harness.seen(),
        [Seen::Closed, Seen::Answering(1), Seen::Answering(0)]
    );
}

#[tokio::test]
async fn a_model_without_an_answer_is_reported_to_the_user_and_the_server() {
    let mut harness = harness(vec![vec![ScriptStep::end()]]);
    harness.request("parcels", sampling());
    harness.choose(UserChoice::Send);
    let (_, refused) = harness.finish_job().await.expect("a refusal");
    let ServerRequestReply::Refused(why) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.starts_with("The model gave no answer: "), "{why}");
    let notice = "The model gave no answer for server `parcels`.".to_owned();
    assert_eq!(harness.seen().last(), Some(&Seen::Notice(notice)));
}

#[tokio::test]
async fn declining_everything_covers_open_and_later_requests_until_the_next_conversation() {
    let mut harness = harness(Vec::new());
    for (server, request) in [
        ("shop", form()),
        ("parcels", form()),
        ("parcels", sampling()),
        ("parcels", form()),
    ] {
        assert_eq!(harness.request(server, request), None);
    }
    let declined = |id| (ServerRequestId(id), ServerRequestReply::Declined);
    let replies = harness.choose(UserChoice::DeclineAll);
    assert_eq!(replies, [declined(4), declined(2), declined(3)]);
    let notice = "Requests from server `parcels` are declined in this conversation.".to_owned();
    assert_eq!(
        harness.seen(),
        [
            Seen::Closed,
            Seen::Closed,
            Seen::Closed,
            Seen::Notice(notice)
        ]
    );
    for request in [form(), sampling()] {
        let reply = harness.request("parcels", request);
        assert_eq!(reply, Some(ServerRequestReply::Declined));
    }
    assert_eq!(harness.seen(), [], "no notice for each of them");
    assert_eq!(
        harness.request("shop", form()),
        None,
        "the user is still asked about other servers"
    );
    harness.requests.begin_conversation();
    assert_eq!(harness.request("parcels", form()), None);
}

#[tokio::test]
async fn the_eleventh_request_for_an_answer_is_refused_without_asking() {
    let mut harness = harness(Vec::new());
    for _ in 0..10 {
        assert_eq!(harness.request("parcels", sampling()), None);
    }
    harness.seen();
    let refused = "The request was refused: at most 10 are allowed in 10 minutes.".to_owned();
    for _ in 0..3 {
        let reply = harness.request("parcels", sampling());
        assert_eq!(reply, Some(ServerRequestReply::Refused(refused.clone())));
    }
    let notice = "Server `parcels` asked for an answer from the model.".to_owned();
    assert_eq!(harness.seen(), [Seen::Notice(notice)], "reported once");
}

#[tokio::test]
async fn questions_of_stopped_calls_are_cancelled_and_others_stay() {
    let mut harness = harness(vec![]);
    harness.request("shop", form());
    harness.request_during(&[1], "shop", form());
    harness.request_during(&[1, 2], "shop", sampling());
    harness.request_during(&[3], "parcels", form());
    harness.seen();
    let cancelled = |id| (ServerRequestId(id), ServerRequestReply::Cancelled);
    // `/cancel` of the first call.
    let (stopped, running) = ([CallId(1)], [CallId(2), CallId(3)]);
    let cx = &mut harness.cx;
    let replies = harness.requests.cancel_with_calls(&stopped, &running, cx);
    assert_eq!(replies, [cancelled(2)]);
    // Ctrl+C.
    let stopped = [CallId(2), CallId(3)];
    let mut replies = harness.requests.cancel_with_calls(&stopped, &[], cx);
    replies.sort_by_key(|(id, _)| id.0);
    assert_eq!(replies, [cancelled(3), cancelled(4)]);
    assert_eq!(harness.seen(), [Seen::Closed, Seen::Closed, Seen::Closed]);
    let left = harness.cx.withdraw_matching(|_| true);
    assert_eq!(left.len(), 1, "only the one without a call");
}

#[tokio::test]
async fn a_withdrawn_request_is_reported_before_its_question_closes() {
    let mut harness = harness(vec![]);
    harness.request("shop", form());
    harness.seen();
    harness
        .requests
        .withdraw(ServerRequestId(1), &mut harness.cx);
    // The dialog may report lost text when it closes, and a later notice would replace that.
    let notice = "The server no longer needs your answer.".to_owned();
    assert_eq!(harness.seen(), [Seen::Notice(notice), Seen::Closed]);
}

fn quoted_text(blocks: &[Block]) -> String {
    let text = blocks.iter().find_map(|block| match block {
        Block::Quoted { text, .. } => Some(text.to_string()),
        _ => None,
    });
    text.unwrap_or_default()
}
