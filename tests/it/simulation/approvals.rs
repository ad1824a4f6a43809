//! Random keys, pastes, edits and sizes against approval dialogs with random arguments. No call
//! runs unless a frame showed each part of its arguments, or the user typed the confirmation.

use super::approving_user::{ApprovingUser, key, size};
use super::drawn_calls::DrawnCalls;
use super::key_timing::KeyTiming;
use super::random_arguments::RandomArguments;
use super::run_count;
use super::test_rng::TestRng;
use crate::support::fixtures;
use crate::support::screen_harness::{buffer_to_lines, screen_harness};
use crossterm::event::KeyCode;
use humble::domain::{Arguments, AskId, CallId, Decision, SchemaCheck, TurnEvent, TurnId};
use humble::protocol::{CallToApprove, Command, Event, ModelJob, QuestionOwner, UserAnswer};
use humble::questions;
use humble::tui::{Msg, UiEffect, UiInput, UiModel, update, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const INPUTS_MAX: usize = 120;
/// Drawing dialogs is far slower than stepping a turn: one session runs per this many turn runs.
const TURN_RUNS_PER_SESSION: u64 = 50;
const TOOLS: [&str; 3] = ["write", "list", "echo"];
/// Kinds of runs: the decision, and the reason why the call may run. The seeds must reach each.
const EXPECTED_RUNS: [&str; 10] = [
    "always",
    "drawn",
    "edited",
    "for the session",
    "matching",
    "run",
    "the server",
    "unread",
    "with others",
    "json",
];

/// A faulty screen, which the check must detect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Runs all calls at the first frame.
    RunsAtFirst,
    /// Counts frames as drawn that were not.
    SkipsFrames,
    /// Runs arguments other than those on the screen.
    RunsOther,
    /// Runs calls that were only partly drawn.
    RunsEarly,
    /// Runs a drawn call as soon as `y` is pressed, even within a word.
    RunsWords,
    /// Runs a drawn call at Enter, whichever key came just before.
    RunsAtEnter,
}

struct ApprovalSession {
    model: UiModel,
    turn: TurnId,
    calls: Vec<(CallId, &'static str, Arguments)>,
    drawn: DrawnCalls,
    timing: KeyTiming,
    now: Duration,
    user: ApprovingUser,
    frames: usize,
    /// The last frame that the check saw, and its text once the check has failed.
    buffer: Buffer,
    last_frame: String,
    fault: Option<Fault>,
    outcome: Option<Result<(), String>>,
}

impl ApprovalSession {
    fn new(rng: &mut TestRng, fault: Option<Fault>) -> Self {
        let mut story = screen_harness(size(rng));
        story.prompt("go");
        let (turn, now) = (story.turn, story.model.now);
        let mut session = Self {
            model: std::mem::replace(&mut story.model, screen_harness((1, 1)).model),
            turn,
            calls: Vec::new(),
            drawn: DrawnCalls::default(),
            timing: KeyTiming::default(),
            now,
            user: ApprovingUser::default(),
            frames: 0,
            buffer: Buffer::default(),
            last_frame: String::new(),
            fault,
            outcome: None,
        };
        let count = *rng.pick(&[1, 1, 2, 3]);
        for (tool, id) in TOOLS.into_iter().take(count).zip(1..) {
            let arguments = RandomArguments::new(rng).arguments();
            session.calls.push((CallId(id), tool, arguments.clone()));
            session.drawn.set_arguments(CallId(id), &arguments, false);
            session.announce(CallId(id), tool, arguments, rng);
        }
        let offered = session.calls.iter().map(|(call, tool, _)| CallToApprove {
            call: *call,
            tool: Arc::new(fixtures::described_tool(tool, "Does it.\n  path  /safe")),
        });
        let question = questions::approve(offered.collect());
        let asked = Event::Asked {
            ask: AskId(1),
            owner: QuestionOwner::Job(ModelJob::Turn(turn)),
            question,
        };
        session.apply(UiInput::Engine(Box::new(asked)), rng);
        session.draw();
        session
    }

    fn announce(&mut self, id: CallId, tool: &str, arguments: Arguments, rng: &mut TestRng) {
        let call = humble::domain::ToolCall {
            id,
            ..fixtures::tool_call("files", tool, Value::from(arguments))
        };
        let event = Event::Turn(self.turn, TurnEvent::Tool(call));
        self.apply(UiInput::Engine(Box::new(event)), rng);
    }

    fn apply(&mut self, input: UiInput, rng: &mut TestRng) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in update(&mut self.model, Msg::new(self.now, input)) {
                match effect {
                    UiEffect::Send(Command::Answer { answer, .. }) => self.answer(answer),
                    UiEffect::Send(Command::Interrupt) | UiEffect::Quit => {
                        self.outcome = Some(Ok(()));
                    }
                    UiEffect::Send(Command::CheckArguments {
                        query,
                        tool,
                        arguments,
                    }) => {
                        let check = match rng.one_in(6) {
                            true => SchemaCheck::Invalid("no".to_owned()),
                            false => SchemaCheck::Valid,
                        };
                        let call = self.calls.iter().find(|(_, name, _)| **name == *tool.name);
                        if let (Some((call, ..)), SchemaCheck::Valid) = (call, &check) {
                            self.drawn.set_arguments(*call, &arguments, true);
                        }
                        let event = Event::ArgumentsChecked { query, check };
                        inputs.push_back(UiInput::Engine(Box::new(event)));
                    }
                    UiEffect::OpenEditor(text) => {
                        let text = text.replacen('1', "2\u{202e}", 1);
                        inputs.push_back(UiInput::EditorClosed(Ok(text)));
                    }
                    _ => {}
                }
            }
        }
    }

    fn answer(&mut self, mut answer: UserAnswer) {
        if let (Some(Fault::RunsOther), UserAnswer::Calls(decisions)) = (self.fault, &mut answer) {
            for (_, decision) in decisions {
                let arguments = fixtures::object(json!({ "path": "/" }));
                *decision = Decision::Edit { arguments };
            }
        }
        let is_word_typed = self.drawn.is_run_confirmed();
        let timing = (self.timing).check_answer(&answer, is_word_typed, self.now);
        let verdict = self.drawn.check_answer(&answer, self.now).and(timing);
        if verdict.is_err() {
            self.last_frame = buffer_to_lines(&self.buffer).join("\n");
        }
        self.outcome = Some(verdict);
    }

    /// Runs the calls as a faulty screen would, unless the check of the drawn arguments would already
    /// catch that.
    fn run_if_drawn(&mut self) {
        let calls = self.calls.iter();
        let runs = calls.map(|(call, ..)| (*call, Decision::Run)).collect();
        let answer = UserAnswer::Calls(runs);
        if self.drawn.check_answer(&answer, self.now).is_ok() {
            self.answer(answer);
        }
    }

    fn draw(&mut self) {
        let (width, height) = self.model.screen.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        view::paint(&mut self.model, &mut buffer);
        self.frames += 1;
        if self.fault == Some(Fault::SkipsFrames) && self.frames.is_multiple_of(2) {
            return;
        }
        self.drawn.observe_frame(&buffer, self.now);
        self.buffer = buffer;
        let runs_now = match self.fault {
            Some(Fault::RunsAtFirst) => true,
            Some(Fault::RunsEarly) => self.drawn.is_partly_drawn(),
            _ => false,
        };
        if runs_now {
            let calls = self.calls.iter();
            let runs = calls.map(|(call, ..)| (*call, Decision::Run));
            self.answer(UserAnswer::Calls(runs.collect()));
        }
    }

    fn step(&mut self, rng: &mut TestRng) {
        self.now += Duration::from_millis(*rng.pick(match self.user.reads {
            true => &[60, 250, 700, 700],
            false => &[0, 4, 60, 250, 700],
        }));
        // The program wakes up once the dialog accepts keys.
        self.apply(UiInput::Tick, rng);
        if let [(call, tool, arguments)] = self.calls.as_mut_slice()
            && rng.one_in(150)
        {
            arguments.insert("changed".to_owned(), json!(self.now.as_millis() as u64));
            let (call, tool, arguments) = (*call, *tool, arguments.clone());
            self.drawn.set_arguments(call, &arguments, false);
            self.announce(call, tool, arguments, rng);
        }
        let input = self.user.next_input(rng);
        let is_enter = input == key(KeyCode::Enter);
        let shows_at_once = matches!(input, UiInput::Paste(_)) || input == key(KeyCode::Char('r'));
        self.drawn.uses_json |= matches!(&input, UiInput::Key(key) if key.code == KeyCode::F(5));
        if is_enter {
            self.drawn.observe_enter();
        }
        self.timing.observe_input(&input, self.now);
        let answers_at = match self.fault {
            Some(Fault::RunsWords) => Some(KeyCode::Char('y')),
            Some(Fault::RunsAtEnter) => Some(KeyCode::Enter),
            _ => None,
        };
        if answers_at.is_some_and(|code| input == key(code)) && self.model.dialog_has_keys() {
            self.run_if_drawn();
        }
        self.apply(input, rng);
        if self.outcome.is_none() && (shows_at_once || !rng.one_in(3)) {
            self.draw();
        }
    }
}

/// Runs one session. Returns the number of runs of each kind, as in [`EXPECTED_RUNS`].
fn run_session(seed: u64, fault: Option<Fault>) -> Result<BTreeMap<&'static str, usize>, String> {
    let rng = &mut TestRng::new(seed);
    let mut session = ApprovalSession::new(rng, fault);
    session.user.reads = !rng.one_in(4);
    for input in 0..INPUTS_MAX {
        if let Some(outcome) = session.outcome {
            outcome.map_err(|fault| format!("input {input}: {fault}\n{}", session.last_frame))?;
            break;
        }
        session.step(rng);
    }
    if session.drawn.uses_json && !session.drawn.runs.is_empty() {
        session.drawn.runs.insert("json", 1);
    }
    Ok(session.drawn.runs)
}

#[test]
fn no_call_runs_before_it_was_drawn() {
    let sessions = run_count() / TURN_RUNS_PER_SESSION;
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            std::thread::spawn(move || {
                let mut total: BTreeMap<&'static str, usize> = BTreeMap::new();
                for seed in (0..sessions).filter(|seed| seed % threads == worker) {
                    let session = run_session(seed, None);
                    let runs = session.unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
                    for (how, count) in runs {
                        *total.entry(how).or_default() += count;
                    }
                }
                total
            })
        })
        .collect();
    let mut total: BTreeMap<&'static str, usize> = BTreeMap::new();
    for worker in workers {
        for (how, count) in worker.join().expect("no session failed") {
            *total.entry(how).or_default() += count;
        }
    }
    println!("{sessions} sessions: {total:?}");
    for how in EXPECTED_RUNS {
        assert!(total.contains_key(how), "no call ran by `{how}`: {total:?}");
    }
}

#[test]
fn each_faulty_screen_is_caught() {
    let faults = [
        Fault::RunsAtFirst,
        Fault::SkipsFrames,
        Fault::RunsOther,
        Fault::RunsEarly,
        Fault::RunsWords,
        Fault::RunsAtEnter,
    ];
    for fault in faults {
        let caught = (0..200).find(|seed| run_session(*seed, Some(fault)).is_err());
        assert!(caught.is_some(), "{fault:?}");
    }
}
