//! Simulates the screen with random keys, pastes, sizes and times. The screen's commands drive a
//! real turn, whose events drive the screen.

use super::drawn_calls::DrawnCalls;
use super::invariant_checker::InvariantChecker;
use super::key_timing::KeyTiming;
use super::test_rng::TestRng;
use super::{run_count, world};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use humble::domain::{AskId, SchemaCheck, TurnId};
use humble::engine::turn::{Turn, TurnEffect, TurnIdGenerators, TurnInput};
use humble::protocol::{Command, Event, ModelJob, QuestionOwner};
use humble::tui::{Msg, TuiOptions, UiEffect, UiInput, UiModel, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::collections::VecDeque;
use std::time::Duration;

const INPUTS_MAX: usize = 60;
/// Time without keys before a dialog accepts keys, so that typing cannot answer the dialog.
const QUIET_TIME: Duration = Duration::from_millis(500);

struct ScreenSimulation {
    model: UiModel,
    turn: Option<(TurnId, Turn)>,
    checker: InvariantChecker,
    /// The calls of the open question.
    drawn: DrawnCalls,
    timing: KeyTiming,
    ids: TurnIdGenerators,
    ask: Option<AskId>,
    asked_at: Duration,
    /// When the user last pasted or pressed a key other than Esc.
    last_key: Duration,
    /// Whether a key may answer the open question.
    accepts_answer: bool,
    now: Duration,
    has_quit: bool,
    problems: Vec<String>,
}

impl ScreenSimulation {
    fn new() -> Self {
        Self {
            model: UiModel::new(&TuiOptions::default(), (100, 30)),
            turn: None,
            checker: InvariantChecker::new(humble::domain::ToolMode::Manual, 1),
            drawn: DrawnCalls::default(),
            timing: KeyTiming::default(),
            ids: TurnIdGenerators::default(),
            ask: None,
            asked_at: Duration::ZERO,
            last_key: Duration::ZERO,
            accepts_answer: false,
            now: Duration::ZERO,
            has_quit: false,
            problems: Vec::new(),
        }
    }

    fn report(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    /// Applies one input and everything that follows from it.
    fn apply_input(&mut self, input: UiInput, rng: &mut TestRng) {
        let letter_due_at = self.model.dialogs.letter_due_at();
        if letter_due_at.is_some_and(|due| self.now >= due) {
            // The program wakes up once a held letter acts.
            self.process(VecDeque::from([UiInput::Tick]), false, rng);
        }
        let is_key = matches!(&input, UiInput::Key(key) if key.kind == KeyEventKind::Press);
        self.accepts_answer |=
            self.ask.is_some() && self.now >= self.asked_at.max(self.last_key) + QUIET_TIME;
        // Esc types nothing, so it does not postpone an answer.
        let postpones = match &input {
            UiInput::Key(key) => key.code != KeyCode::Esc,
            input => matches!(input, UiInput::Paste(_) | UiInput::Burst(_)),
        };
        if postpones {
            self.last_key = self.now;
        }
        self.timing.observe_input(&input, self.now);
        self.process(VecDeque::from([input]), is_key, rng);
    }

    fn process(&mut self, mut inputs: VecDeque<UiInput>, is_key: bool, rng: &mut TestRng) {
        // A letter that may begin a word answers only after a pause.
        let letter_due_at = self.model.dialogs.letter_due_at();
        let is_key = is_key || letter_due_at.is_some_and(|due| self.now >= due);
        while let Some(input) = inputs.pop_front() {
            for effect in update(&mut self.model, Msg::new(self.now, input)) {
                match effect {
                    UiEffect::Send(command) => {
                        self.handle_command(command, is_key, rng, &mut inputs)
                    }
                    UiEffect::Quit => self.has_quit = true,
                    _ => {}
                }
            }
        }
        // A dialog accepts keys only after it has been drawn.
        let is_undrawn = self
            .model
            .dialogs
            .queued()
            .first()
            .is_some_and(|ask| !ask.is_drawn);
        if is_undrawn || !self.model.dialogs.queued().is_empty() && rng.one_in(8) {
            let (width, height) = self.model.screen.size;
            let area = ratatui::layout::Rect::new(0, 0, width, height);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            view::paint(&mut self.model, &mut buffer);
            self.drawn.observe_frame(&buffer, self.now);
        }
        let dialog_ids: Vec<AskId> = self
            .model
            .dialogs
            .queued()
            .iter()
            .map(|ask| ask.id)
            .collect();
        let question_ids: Vec<AskId> = self.ask.into_iter().collect();
        if dialog_ids != question_ids {
            self.report(&format!(
                "dialogs {dialog_ids:?}, questions {question_ids:?}"
            ));
        }
    }

    fn handle_command(
        &mut self,
        command: Command,
        is_key: bool,
        rng: &mut TestRng,
        inputs: &mut VecDeque<UiInput>,
    ) {
        let effects = match command {
            Command::Submit { turn, prompt } => {
                if self.turn.is_some() {
                    return self.report("a second prompt during a turn");
                }
                let mut setup = world::setup(rng);
                setup.prompt = prompt;
                self.checker =
                    InvariantChecker::new(setup.approval.mode, setup.limits.errors_per_turn);
                let (machine, effects) = Turn::begin(setup, self.ids.clone());
                self.turn = Some((turn, machine));
                effects
            }
            Command::Answer { ask, answer } => {
                if self.ask != Some(ask) {
                    return self.report("an answer to a question that is not open");
                }
                if !is_key || !self.accepts_answer {
                    return self.report("an answer without a key after a quiet time");
                }
                if let Err(problem) = self.drawn.check_answer(&answer, self.now) {
                    return self.report(&problem);
                }
                // This user never types the word that runs a call unread.
                if let Err(problem) = self.timing.check_answer(&answer, false, self.now) {
                    return self.report(&problem);
                }
                self.step(TurnInput::Answered { ask, answer })
            }
            Command::Interrupt => {
                inputs.push_back(UiInput::Engine(Box::new(Event::InterruptAcknowledged)));
                self.step(TurnInput::Interrupt)
            }
            Command::CheckArguments {
                query, arguments, ..
            } => {
                let dialog = self.model.dialogs.current();
                if let Some(call) = dialog.and_then(|dialog| dialog.call()) {
                    self.drawn.set_arguments(call.call, &arguments, true);
                }
                let check = *rng.pick(&[&SchemaCheck::Valid, &SchemaCheck::Unchecked]);
                let check = check.clone();
                let event = Event::ArgumentsChecked { query, check };
                return inputs.push_back(UiInput::Engine(Box::new(event)));
            }
            Command::CancelCall(call) => {
                if !self.checker.running.contains(&call) {
                    return self.report("a call that is not running is cancelled");
                }
                let elapsed = Duration::from_secs(1);
                self.step(TurnInput::CancelCall { call, elapsed })
            }
            _ => return,
        };
        self.apply_effects(effects, inputs);
    }

    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let Some((_, turn)) = &mut self.turn else {
            return Vec::new();
        };
        self.checker.observe_input(&input);
        turn.step(input)
    }

    /// Carries out a turn's effects as the engine would.
    fn apply_effects(&mut self, effects: Vec<TurnEffect>, inputs: &mut VecDeque<UiInput>) {
        let Some((id, turn)) = &self.turn else { return };
        let (id, ids) = (*id, turn.ids());
        if let Err((invariant, details)) = self.checker.check_effects(&effects) {
            self.report(&format!("{invariant:?}: {details}"));
        }
        for effect in effects {
            let event = match effect {
                TurnEffect::Emit(event) => Event::Turn(id, event),
                TurnEffect::OpenAsk { ask, question } => {
                    (self.ask, self.asked_at, self.accepts_answer) = (Some(ask), self.now, false);
                    self.drawn = DrawnCalls::default();
                    for call in question.calls() {
                        let arguments = &self.checker.calls[&call.call].arguments;
                        self.drawn.set_arguments(call.call, arguments, false);
                    }
                    Event::Asked {
                        ask,
                        owner: QuestionOwner::Job(ModelJob::Turn(id)),
                        question,
                    }
                }
                TurnEffect::CloseAsk(ask) => {
                    self.ask = None;
                    Event::AskClosed(ask)
                }
                _ => continue,
            };
            inputs.push_back(UiInput::Engine(Box::new(event)));
        }
        if self.checker.has_ended {
            self.turn = None;
            self.ids = ids;
        }
    }

    /// Applies an input that does not come through the screen.
    fn advance_world(&mut self, rng: &mut TestRng) {
        if self.turn.is_none() {
            return;
        }
        let input = world::input_outside_screen(rng, &self.checker);
        let effects = self.step(input);
        let mut inputs = VecDeque::new();
        self.apply_effects(effects, &mut inputs);
        self.process(inputs, false, rng);
    }

    fn draw(&mut self, rng: &mut TestRng) {
        let (width, height) = (rng.below(121), rng.below(41));
        let (width, height) = (u16::try_from(width), u16::try_from(height));
        let backend = TestBackend::new(width.expect("small"), height.expect("small"));
        let mut terminal = Terminal::new(backend).expect("a backend");
        terminal
            .draw(|frame| view::draw(&mut self.model, frame))
            .expect("drawn");
        self.drawn
            .observe_frame(terminal.backend().buffer(), self.now);
    }
}

const KEYS: &[(KeyCode, KeyModifiers)] = &[
    (KeyCode::Char('y'), KeyModifiers::NONE),
    (KeyCode::Char('ㅛ'), KeyModifiers::NONE),
    (KeyCode::Char('n'), KeyModifiers::NONE),
    (KeyCode::Char('d'), KeyModifiers::NONE),
    (KeyCode::Char('c'), KeyModifiers::NONE),
    (KeyCode::Char('o'), KeyModifiers::NONE),
    (KeyCode::Char('e'), KeyModifiers::NONE),
    (KeyCode::Char('s'), KeyModifiers::NONE),
    (KeyCode::Char('u'), KeyModifiers::NONE),
    (KeyCode::Char('t'), KeyModifiers::NONE),
    (KeyCode::Char('1'), KeyModifiers::NONE),
    (KeyCode::Char('2'), KeyModifiers::NONE),
    (KeyCode::Char('0'), KeyModifiers::NONE),
    (KeyCode::Char('한'), KeyModifiers::NONE),
    (KeyCode::Char('/'), KeyModifiers::NONE),
    (KeyCode::Char(' '), KeyModifiers::NONE),
    (KeyCode::Enter, KeyModifiers::NONE),
    (KeyCode::Enter, KeyModifiers::NONE),
    (KeyCode::Enter, KeyModifiers::ALT),
    (KeyCode::Esc, KeyModifiers::NONE),
    (KeyCode::Tab, KeyModifiers::NONE),
    (KeyCode::BackTab, KeyModifiers::SHIFT),
    (KeyCode::Up, KeyModifiers::NONE),
    (KeyCode::Down, KeyModifiers::NONE),
    (KeyCode::Left, KeyModifiers::NONE),
    (KeyCode::Right, KeyModifiers::CONTROL),
    (KeyCode::Home, KeyModifiers::NONE),
    (KeyCode::End, KeyModifiers::CONTROL),
    (KeyCode::PageUp, KeyModifiers::NONE),
    (KeyCode::PageDown, KeyModifiers::NONE),
    (KeyCode::Backspace, KeyModifiers::NONE),
    (KeyCode::Delete, KeyModifiers::NONE),
    (KeyCode::Char('p'), KeyModifiers::CONTROL),
    (KeyCode::Char('o'), KeyModifiers::CONTROL),
    (KeyCode::Char('u'), KeyModifiers::CONTROL),
    (KeyCode::Char('w'), KeyModifiers::CONTROL),
    (KeyCode::Char('r'), KeyModifiers::ALT),
    (KeyCode::Char(']'), KeyModifiers::ALT),
    (KeyCode::F(1), KeyModifiers::NONE),
    (KeyCode::F(2), KeyModifiers::NONE),
    (KeyCode::F(3), KeyModifiers::NONE),
    (KeyCode::F(12), KeyModifiers::NONE),
];

fn input(rng: &mut TestRng) -> UiInput {
    match rng.below(30) {
        0 => UiInput::Paste("y\n한글".to_owned()),
        1 => UiInput::Burst("y".to_owned()),
        2 => UiInput::Tick,
        3 => UiInput::Focus(rng.one_in(2)),
        4 => {
            let (width, height) = (rng.below(121), rng.below(41));
            let size = (u16::try_from(width), u16::try_from(height));
            UiInput::Resize {
                width: size.0.expect("small"),
                height: size.1.expect("small"),
            }
        }
        5 if rng.one_in(4) => {
            UiInput::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))
        }
        _ => {
            let (code, modifiers) = *rng.pick(KEYS);
            let mut key = KeyEvent::new(code, modifiers);
            if rng.one_in(12) {
                key.kind = KeyEventKind::Repeat;
            }
            UiInput::Key(key)
        }
    }
}

fn run_session(seed: u64) -> Result<usize, String> {
    let rng = &mut TestRng::new(seed);
    let mut simulation = ScreenSimulation::new();
    for count in 0..INPUTS_MAX {
        simulation.now += Duration::from_millis(*rng.pick(&[0, 4, 60, 250, 700]));
        if rng.one_in(3) {
            simulation.advance_world(rng);
        } else {
            let input = input(rng);
            simulation.apply_input(input, rng);
        }
        if rng.one_in(60) {
            simulation.draw(rng);
        }
        // Later problems are consequences of the first.
        if let Some(problem) = simulation.problems.first() {
            return Err(format!("input {count}: {problem}"));
        }
        if simulation.has_quit {
            return Ok(count);
        }
    }
    Ok(INPUTS_MAX)
}

#[test]
fn random_screen_sessions_keep_every_invariant() {
    let runs = run_count();
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            std::thread::spawn(move || {
                let seeds = (0..runs).filter(|seed| seed % threads == worker);
                seeds
                    .map(|seed| {
                        run_session(seed).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"))
                    })
                    .sum::<usize>()
            })
        })
        .collect();
    let inputs: usize = workers
        .into_iter()
        .map(|worker| worker.join().expect("the session keeps every invariant"))
        .sum();
    let average = inputs as u64 / runs;
    println!("{runs} sessions, {average} inputs each");
    assert!(average >= 30, "only {average} inputs per run");
}
