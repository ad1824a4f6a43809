//! Keys in, commands and text out. A script is text with keys in angle brackets.

use super::super::Options;
use super::super::model::{Focus, Overlay};
use super::*;
use crate::domain::tool::{CallOrigin, Decision, Tool, ToolCall, ToolState};
use crate::domain::{
    AskId, Body, CallId, ModelRef, PieceId, PieceKind, ProviderKind, Session, TurnId,
};
use crate::protocol::{Answer, ApproveCall, Ask, Choice, Event, Job, Owner};
use crossterm::event::{KeyCode, KeyEventKind, KeyModifiers};
use serde_json::json;
use std::sync::Arc;

struct Chat {
    model: Model,
    sent: Vec<Effect>,
}

fn chat() -> Chat {
    let mut chat = Chat {
        model: Model::new(&Options::default(), (80, 24)),
        sent: Vec::new(),
    };
    let model = ModelRef {
        name: "qwen3".into(),
        provider: ProviderKind::Ollama,
        model: "qwen3:4b".into(),
    };
    chat.engine(Event::ModelsListed {
        models: vec![model.clone()],
        selected: Some(model),
    });
    chat.wait(5_000);
    chat
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

fn named(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('+') {
        Some(("Ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("Alt", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgUp" => KeyCode::PageUp,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Space" => KeyCode::Char(' '),
        name if name.len() > 1 && name.starts_with('F') => {
            KeyCode::F(name[1..].parse().expect("a number"))
        }
        name => KeyCode::Char(name.chars().next().expect("a key")),
    };
    key(code, modifiers)
}

impl Chat {
    fn input(&mut self, input: Input) -> &mut Self {
        let msg = Msg::new(self.model.now, input);
        let effects = update(&mut self.model, msg);
        self.sent.extend(effects);
        self
    }

    /// Types as a person does: 30 ms a key.
    fn keys(&mut self, script: &str) -> &mut Self {
        let mut rest = script;
        while let Some(c) = rest.chars().next() {
            let end = rest.find('>').filter(|_| c == '<');
            let event = match end {
                Some(end) => named(&rest[1..end]),
                None => key(KeyCode::Char(c), KeyModifiers::NONE),
            };
            rest = &rest[end.map_or(c.len_utf8(), |end| end + 1)..];
            self.wait(30).input(Input::Key(event));
        }
        self
    }

    /// What a script writes in one go.
    fn at_once(&mut self, text: &str) -> &mut Self {
        let event = |c| match c {
            '\n' => key(KeyCode::Enter, KeyModifiers::NONE),
            c => key(KeyCode::Char(c), KeyModifiers::NONE),
        };
        let events: Vec<_> = text.chars().map(event).collect();
        for input in inputs(&events) {
            self.input(input);
        }
        self
    }

    fn wait(&mut self, millis: u64) -> &mut Self {
        self.model.now += Duration::from_millis(millis);
        self.input(Input::Tick)
    }

    fn engine(&mut self, event: Event) -> &mut Self {
        self.input(Input::Engine(Box::new(event)))
    }

    fn turn(&mut self, event: TurnEvent) -> &mut Self {
        let id = self.model.running().expect("a turn is under way");
        self.engine(Event::Turn(id, event))
    }

    fn says(&mut self, text: &str) -> &mut Self {
        self.turn(TurnEvent::Delta {
            piece: PieceId(1),
            kind: PieceKind::Text,
            text: text.into(),
        })
    }

    fn ends(&mut self, end: TurnEnd) -> &mut Self {
        self.turn(TurnEvent::Ended {
            end,
            usage: Usage::default(),
        })
    }

    fn answers(&mut self, text: &str) -> &mut Self {
        self.says(text).ends(TurnEnd::Answered {
            text: text.into(),
            cut: false,
        })
    }

    /// A question about calls of `add`, one for each id.
    fn asks(&mut self, ids: &[u64]) -> &mut Self {
        let definition = json!({
            "name": "add",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        });
        let tool = Arc::new(Tool::from_definition(&definition).expect("a tool"));
        for id in ids {
            self.turn(TurnEvent::Tool(ToolCall {
                id: CallId(*id),
                server: "sums".into(),
                tool: "add".into(),
                arguments: json!({"a": 1}).as_object().expect("an object").clone(),
                original: None,
                origin: CallOrigin::Text {
                    form: "Hermes",
                    repaired: false,
                },
                repeats: (*id > 1).then_some(CallId(1)),
                state: ToolState::AwaitingApproval,
            }));
        }
        let calls = ids.iter().map(|id| ApproveCall {
            call: CallId(*id),
            tool: tool.clone(),
        });
        self.asked(Ask::Approve(calls.collect()))
    }

    fn asked(&mut self, question: Ask) -> &mut Self {
        let owner = Owner::Job(Job::Turn(TurnId(1)));
        self.engine(Event::Asked {
            ask: AskId(7),
            owner,
            question,
        })
    }

    /// The commands since the last look.
    fn commands(&mut self) -> Vec<Command> {
        let sent = std::mem::take(&mut self.sent);
        let commands = sent.into_iter().filter_map(|effect| match effect {
            Effect::Send(command) => Some(command),
            _ => None,
        });
        commands.collect()
    }

    fn decided(&mut self) -> Vec<Decision> {
        match self.commands().pop() {
            Some(Command::Answer {
                answer: Answer::Calls(calls),
                ..
            }) => calls.into_iter().map(|(_, decision)| decision).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn prompts(&mut self) -> Vec<String> {
        let prompt = |command| match command {
            Command::Submit { prompt, .. } => Some(prompt.text),
            _ => None,
        };
        self.commands().into_iter().filter_map(prompt).collect()
    }

    fn message(&self) -> String {
        self.model.editor.text()
    }

    fn notice(&self) -> String {
        let notice = self.model.notice.as_ref();
        notice.map_or_else(String::new, |(notice, _)| notice.sentence())
    }

    fn approving(ids: &[u64]) -> Self {
        let mut chat = chat();
        chat.keys("sum<Enter>").asks(ids).wait(600);
        chat.sent.clear();
        chat
    }
}

#[test]
fn a_prompt_is_on_screen_before_it_is_sent() {
    let mut chat = chat();
    chat.keys("hello<Enter>");
    assert!(chat.model.transcript.wait().is_some());
    assert!(
        matches!(&chat.model.transcript.entries()[0].body, Body::Prompt { text } if text == "hello")
    );
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn a_prompt_written_in_one_go_is_sent() {
    let mut chat = chat();
    chat.at_once("hello\n").wait(20);
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn a_paste_that_comes_as_keys_is_not_sent() {
    let mut chat = chat();
    chat.at_once("one\ntwo\n").wait(20).at_once("").wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn a_paste_cut_behind_a_line_end_is_not_sent() {
    let mut chat = chat();
    chat.at_once("some text\n").at_once("more text").wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "some text\nmore text")
    );
}

#[test]
fn a_paste_is_not_sent() {
    let mut chat = chat();
    chat.input(Input::Paste("one\r\ntwo\n".into()));
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn a_prompt_during_a_turn_waits_for_its_end() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>");
    assert_eq!(chat.prompts(), ["one"]);
    chat.answers("1");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn a_queued_prompt_can_be_taken_back() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Up>");
    assert_eq!(chat.message(), "two");
    assert!(chat.model.queue.prompts.is_empty());
}

#[test]
fn an_interrupt_pauses_the_queue_until_enter() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Ctrl+c>");
    assert!(chat.commands().contains(&Command::Interrupt));
    chat.ends(TurnEnd::Cancelled);
    assert!(chat.prompts().is_empty());
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn up_brings_an_interrupted_prompt_back() {
    let mut chat = chat();
    chat.keys("one<Enter><Ctrl+c>")
        .ends(TurnEnd::Cancelled)
        .keys("<Up>");
    assert_eq!(chat.message(), "one");
}

#[test]
fn ctrl_c_at_rest_leaves_and_keeps_what_was_typed() {
    let mut chat = chat();
    chat.keys("draft<Ctrl+c>");
    let kept = Effect::Send(Command::KeepDraft("draft".into()));
    assert_eq!(chat.sent, [kept, Effect::Quit]);
}

#[test]
fn ctrl_c_right_after_a_turn_asks_again() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1").keys("<Ctrl+c>");
    assert_eq!(chat.notice(), "Ctrl+C again to leave");
    assert!(!chat.sent.contains(&Effect::Quit));
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&Effect::Quit));
}

#[test]
fn y_runs_a_call_once_the_dialog_has_the_keyboard() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("y");
    assert_eq!(chat.decided(), [Decision::Run]);
}

#[test]
fn keys_before_half_a_second_go_to_the_message() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]).keys("yes");
    assert_eq!((chat.message().as_str(), chat.model.asks.len()), ("yes", 1));
}

#[test]
fn every_key_puts_the_dialog_off() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .asks(&[1])
        .wait(400)
        .keys("a")
        .wait(400)
        .keys("y");
    assert_eq!(chat.message(), "ay");
}

#[test]
fn pasted_text_never_answers() {
    let mut chat = Chat::approving(&[1]);
    chat.input(Input::Paste("y".into())).at_once("yyyyy");
    assert_eq!((chat.commands().len(), chat.model.asks.len()), (0, 1));
}

#[test]
fn a_key_that_repeats_never_answers() {
    let mut chat = Chat::approving(&[1]);
    let repeated =
        KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    chat.input(Input::Key(repeated));
    assert_eq!(chat.model.asks.len(), 1);
}

#[test]
fn jamo_capitals_digits_and_arrows_answer_too() {
    for script in ["ㅛ", "Y", "1", "<Down><Enter>"] {
        let mut chat = Chat::approving(&[1]);
        chat.keys(script);
        assert_eq!(chat.decided(), [Decision::Run], "{script}");
    }
}

#[test]
fn nothing_is_preselected() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("<Enter>");
    assert_eq!(chat.model.asks.len(), 1);
}

#[test]
fn calls_are_decided_one_after_another_and_answered_together() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("y");
    assert!(chat.commands().is_empty());
    chat.keys("u");
    assert_eq!(chat.decided(), [Decision::Run, Decision::UseFirst]);
}

#[test]
fn a_refusal_refuses_all() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("yn");
    assert_eq!(chat.decided(), [Decision::Refuse, Decision::Refuse]);
}

#[test]
fn all_can_be_run_once_each_was_shown() {
    let mut chat = Chat::approving(&[1, 2]);
    chat.keys("0");
    assert_eq!(chat.model.asks.len(), 1);
    chat.keys("<Right>0");
    assert_eq!(chat.decided(), [Decision::Run, Decision::Run]);
}

#[test]
fn a_denial_can_carry_a_word() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("dnot now<Enter>");
    let word = Some("not now".to_owned());
    assert_eq!(chat.decided(), [Decision::Deny { word }]);
}

#[test]
fn edited_arguments_are_checked() {
    let mut chat = Chat::approving(&[1]);
    chat.keys("e<Ctrl+u><Ctrl+k>x<Enter>");
    assert_eq!(chat.model.asks.len(), 1);
    let mut chat = Chat::approving(&[1]);
    chat.keys("e<Up><End>2<Enter>");
    assert!(matches!(&chat.decided()[0], Decision::Edit { .. }));
}

#[test]
fn ctrl_c_interrupts_though_a_dialog_is_not_ready() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]).keys("<Ctrl+ㅊ>");
    assert!(chat.commands().contains(&Command::Interrupt));
}

#[test]
fn a_question_that_closes_leaves_nothing() {
    let mut chat = Chat::approving(&[1]);
    chat.engine(Event::AskClosed(AskId(7))).keys("y");
    assert_eq!(chat.message(), "y");
}

#[test]
fn other_questions_take_their_own_keys() {
    let mut chat = chat();
    chat.keys("sum<Enter>")
        .asked(Ask::Bound { rounds: 10 })
        .wait(600);
    chat.sent.clear();
    chat.keys("2");
    let answer = Answer::Choice(Choice::NoBound);
    assert_eq!(
        chat.commands(),
        [Command::Answer {
            ask: AskId(7),
            answer
        }]
    );
}

#[test]
fn an_unknown_command_is_not_sent_and_the_nearest_is_named() {
    let mut chat = chat();
    chat.keys("/sesions<Enter>");
    assert_eq!(
        chat.notice(),
        "There is no command /sesions. Did you mean /sessions?"
    );
    assert!(chat.commands().is_empty());
}

#[test]
fn commands_complete_with_tab() {
    let mut chat = chat();
    chat.keys("/set-t<Tab>auto<Enter>");
    let auto = crate::domain::ToolMode::Auto;
    assert_eq!(chat.commands(), [Command::SetToolMode(auto)]);
}

#[test]
fn a_wrong_tool_mode_is_answered_literally() {
    let mut chat = chat();
    chat.keys("/set-tool-mode x<Enter>");
    assert_eq!(chat.notice(), "Please enter either auto or manual.");
}

#[test]
fn the_list_of_models_takes_a_number_and_zero_keeps() {
    let mut chat = chat();
    chat.keys("/set-model<Enter>0");
    assert!(chat.model.overlay.is_none() && chat.commands().is_empty());
    chat.keys("/set-model 1<Enter>");
    assert!(matches!(
        chat.commands().as_slice(),
        [Command::SelectModel(_)]
    ));
}

#[test]
fn retry_asks_again_only_what_was_not_answered() {
    let mut chat = chat();
    chat.keys("one<Enter>")
        .ends(TurnEnd::Cancelled)
        .keys("<Alt+r>");
    assert_eq!(chat.prompts(), ["one", "one"]);
    chat.answers("1").keys("/retry<Enter>");
    assert_eq!(
        chat.notice(),
        "Nothing to retry: the last prompt was answered."
    );
}

#[test]
fn a_command_that_found_no_room_ends_its_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    let Some(Effect::Send(command)) = chat.sent.pop() else {
        panic!("a submit was sent");
    };
    chat.input(Input::Unsent(Box::new(command)));
    assert_eq!(chat.model.running(), None);
}

#[test]
fn a_draft_of_the_last_run_is_offered() {
    let mut chat = chat();
    let prompts = Arc::new(vec!["old".to_owned()]);
    let draft = Some("draft".to_owned());
    chat.engine(Event::HistoryLoaded { prompts, draft });
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+u><Up>");
    assert_eq!(chat.message(), "old");
}

#[test]
fn a_tool_line_unfolds_with_the_keyboard_alone() {
    let mut chat = chat();
    chat.keys("sum<Enter>").asks(&[1]);
    chat.engine(Event::AskClosed(AskId(7)));
    chat.keys("<Tab><Up><Enter>");
    assert_eq!(
        (chat.model.focus, chat.model.chat.is_unfolded(1)),
        (Focus::Chat, true)
    );
}

#[test]
fn an_answer_to_an_older_query_is_dropped() {
    let mut chat = chat();
    chat.keys("<F4><Esc><F4>");
    let query = crate::domain::QueryId(1);
    let sessions = Arc::default();
    chat.engine(Event::SessionsListed { query, sessions });
    assert!(matches!(&chat.model.overlay, Some(Overlay::Sessions(open)) if open.all.is_none()));
}

#[test]
fn at_rest_nothing_wakes_the_screen() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1").wait(10_000);
    assert_eq!(chat.model.wake(), None);
}

#[test]
fn a_notice_goes_by_itself() {
    let mut chat = chat();
    chat.keys("/retry<Enter>");
    assert!(chat.model.wake().is_some());
    chat.wait(6_100);
    assert_eq!(chat.notice(), "");
}

#[test]
fn thinking_is_listed_and_may_turn_out_to_be_text() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn(TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Thinking,
        text: "hm".into(),
    });
    assert_eq!(chat.model.thoughts, [1]);
    let to = PieceKind::Text;
    chat.turn(TurnEvent::Reclassified {
        piece: PieceId(1),
        to,
    });
    assert!(chat.model.thoughts.is_empty());
}

#[test]
fn another_conversation_replaces_this_one() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1");
    chat.engine(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert!(chat.model.transcript.entries().is_empty());
}
