//! Everything that the screen shows, as data. `update` changes it, `view` draws
//! it; neither does anything else.

use crate::domain::id::Mint;
use crate::domain::{Body, CallId, Notice, PieceId, SessionId, ToolState, Transcript, TurnId};
use crate::protocol::Ask;
use crate::tui::Options;
use crate::tui::chat::viewport::Flow;
use crate::tui::composer::draft::Draft;
use crate::tui::demo_tour;
use crate::tui::demo_tour::Guide;
use crate::tui::dialog::state::{OpenAsk, QUIET};
use crate::tui::engine_state::EngineState;
use crate::tui::input::decode::ReplyFilter;
use crate::tui::input::key_repeat::Held;
use crate::tui::keymap::Action;
use crate::tui::layer::{Cx, Handled, Layer, Request, Shared};
use crate::tui::models::first_run::FirstRun;
use crate::tui::notices::Notices;
use crate::tui::probe::Probe;
pub use crate::tui::servers::state::{SideRow, Sidebar};
use crate::tui::theme::{Background, Glyphs, Theme};
use crate::tui::widgets::editor::Editor;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// How long the engine may take to acknowledge a Ctrl+C: from then on the next one leaves.
pub const ENGINE_SILENT: Duration = Duration::from_secs(1);
/// A stream that brings nothing for so long is said to be silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// One frame of the spinner.
const SPINNER_STEP: Duration = Duration::from_millis(100);
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    #[default]
    Message,
    Chat,
    Servers,
    Thinking,
}

/// What was typed before, and where Up and Down are in it.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub prompts: Vec<String>,
    /// So many of the last were typed in the private conversation.
    pub private: usize,
    pub at: Option<usize>,
    /// What was being typed when the walk began.
    pub aside: String,
}

/// A turn that takes another one's place once it is answered.
#[derive(Debug, Clone)]
pub struct Replacing {
    /// What is said then.
    pub kept: &'static str,
    /// The title that the other one would give the conversation.
    pub title: String,
}

/// Prompts that wait for the turn under way.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    pub prompts: VecDeque<String>,
    pub paused: bool,
}

/// Times of the turn under way and of the last one.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    pub turn_started: Duration,
    pub round_started: Duration,
    /// Has a meaning while the transcript waits for it.
    pub retry: Retry,
    /// When the first words of the present round came.
    pub first_text: Option<Duration>,
    /// How long the rounds before it streamed.
    pub streamed: Duration,
    pub ended: Option<Duration>,
    /// Output tokens a second, and how long the turn took.
    pub speed: Option<(f64, Duration)>,
    pub calls: HashMap<CallId, Duration>,
    pub thoughts: HashMap<PieceId, (Duration, Duration)>,
    pub thinking: Option<PieceId>,
    /// When the turn under way was heard of last.
    pub heard: Duration,
}

/// When the request of a turn goes out again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retry {
    pub at: Duration,
    pub attempt: u32,
    pub attempts_max: u32,
}

/// Keys that came faster than a person types.
#[derive(Debug, Clone, Default)]
pub struct Burst {
    pub last_text: Option<Duration>,
    /// An Enter that may turn out to be a line end of a paste.
    pub enter: Option<Duration>,
    pub pasting: bool,
}

#[derive(Debug)]
pub struct Model {
    pub now: Duration,
    pub size: (u16, u16),
    pub theme: Theme,
    pub glyphs: Glyphs,
    pub no_color: bool,
    pub focused: bool,
    pub mouse: bool,

    pub transcript: Transcript,
    /// Entries that are thinking, by index.
    pub thoughts: Vec<usize>,
    /// The first entry of the round under way.
    pub round_from: usize,
    pub chat: Flow,
    pub thinking: Flow,
    /// Answers are shown as they were written.
    pub raw: bool,
    pub clock: Clock,
    /// Calls that the person was asked about, and those that ran without.
    pub asked: HashSet<CallId>,
    pub unasked: HashSet<CallId>,
    /// Calls that were run though not all of their arguments had been drawn, with the
    /// rows that were left.
    pub unread: HashMap<CallId, usize>,
    pub title: String,
    pub session: Option<SessionId>,
    /// Nothing of this conversation is saved.
    pub private: bool,

    pub editor: Editor,
    pub draft: Draft,
    pub history: History,
    pub queue: Queue,
    /// While the last prompt is being changed: what stood in the message before.
    pub editing: Option<String>,
    /// Set while a turn is under way that is to replace the last one.
    pub replacing: Option<Replacing>,
    /// The conversation has other branches; a turn of it was taken back.
    pub branched: bool,
    pub taken_back: bool,
    /// A number behind `/branches`, which picks from the list once it is here.
    pub wants_branch: Option<String>,
    /// The chosen completion; None where the person closed the list.
    pub completion: Option<usize>,
    pub burst: Burst,
    pub replies: ReplyFilter,
    pub last_key: Duration,
    /// The key that decided last, while it may still be held down.
    pub decided_by: Option<Held>,

    pub focus: Focus,
    /// What lies over the panes because the user opened it.
    pub layer: Option<Box<dyn Layer>>,
    /// Asked for by features and not carried out yet.
    pub requests: VecDeque<Request>,
    pub show_servers: bool,
    pub show_thinking: bool,
    pub over_chat: Option<Focus>,
    pub asks: Vec<OpenAsk>,

    pub engine: EngineState,
    pub first_run: FirstRun,
    pub probe: Option<Probe>,
    pub sidebar: Sidebar,
    pub notices: Notices,

    pub turns: Mint,
    pub queries: Mint,
    /// The last prompt, and whether it was answered.
    pub last_turn: Option<(String, bool)>,
    /// The last answer was cut by the limit of tokens.
    pub cut: bool,
    pub interrupting: bool,
    /// When an interrupt was sent that the engine has not acknowledged.
    pub interrupt_sent: Option<Duration>,
    /// Leads through the keys, where it was asked for.
    pub guide: Option<Guide>,
}

impl Model {
    pub fn new(options: &Options, size: (u16, u16)) -> Self {
        let mut model = Self {
            now: Duration::ZERO,
            size,
            theme: Theme::new(Background::default(), options.no_color),
            glyphs: Glyphs::new(options.ascii),
            no_color: options.no_color,
            focused: true,
            mouse: true,
            transcript: Transcript::default(),
            thoughts: Vec::new(),
            round_from: 0,
            chat: Flow::default(),
            thinking: Flow::default(),
            raw: false,
            clock: Clock::default(),
            asked: HashSet::new(),
            unasked: HashSet::new(),
            unread: HashMap::new(),
            title: String::new(),
            session: None,
            private: false,
            editing: None,
            replacing: None,
            branched: false,
            taken_back: false,
            wants_branch: None,
            editor: Editor::default(),
            draft: Draft::default(),
            history: History::default(),
            queue: Queue::default(),
            completion: Some(0),
            burst: Burst::default(),
            replies: ReplyFilter::default(),
            decided_by: None,
            last_key: Duration::ZERO,
            focus: Focus::default(),
            layer: None,
            requests: VecDeque::new(),
            show_servers: true,
            show_thinking: true,
            over_chat: None,
            asks: Vec::new(),
            engine: EngineState::default(),
            first_run: FirstRun::default(),
            probe: None,
            sidebar: Sidebar::new(Glyphs::new(options.ascii).dot),
            notices: Notices::default(),
            turns: Mint::default(),
            queries: Mint::default(),
            last_turn: None,
            cut: false,
            interrupting: false,
            interrupt_sent: None,
            guide: options.guide.map(Guide::new),
        };
        demo_tour::follow(&mut model);
        model
    }

    pub fn notify(&mut self, notice: Notice) {
        self.notices.show(notice, self.now);
    }

    pub fn running(&self) -> Option<TurnId> {
        self.transcript.running()
    }

    /// State of several owners that features may read.
    pub fn shared(&self) -> Shared<'_> {
        Shared {
            now: self.now,
            glyphs: self.glyphs,
            engine: &self.engine,
            servers: &self.sidebar.servers,
            prompts: &self.history.prompts,
        }
    }

    /// Lets a feature act. What it asks for is carried out once the message is taken in.
    pub fn cx<T>(&mut self, act: impl FnOnce(&mut Cx) -> T) -> T {
        let mut queries = std::mem::take(&mut self.queries);
        let mut requests = Vec::new();
        let done = act(&mut Cx::new(self.shared(), &mut queries, &mut requests));
        self.queries = queries;
        self.requests.extend(requests);
        done
    }

    /// Lets the open layer act; it goes where it is done.
    pub fn with_layer(&mut self, act: impl FnOnce(&mut dyn Layer, &mut Cx) -> Handled) -> Handled {
        let Some(mut layer) = self.layer.take() else {
            return Handled::PassedOn;
        };
        let handled = self.cx(|cx| act(layer.as_mut(), cx));
        if handled != Handled::Closed {
            self.layer = Some(layer);
        }
        handled
    }

    /// Lets the servers act.
    pub fn with_servers(&mut self, act: impl FnOnce(&mut Sidebar, &mut Cx)) {
        let mut sidebar = std::mem::replace(&mut self.sidebar, Sidebar::new(""));
        self.cx(|cx| act(&mut sidebar, cx));
        self.sidebar = sidebar;
    }

    /// Is the layer open that this action opens?
    pub fn shows(&self, action: Action) -> bool {
        self.layer.as_ref().and_then(|layer| layer.action()) == Some(action)
    }

    /// Is a first run's offer on the screen?
    pub fn offers(&self) -> bool {
        self.engine.stocks.offers
            && !self.first_run.is_closed()
            && self.engine.selected.is_none()
            && self.guide.is_none()
            && self.transcript.entries().is_empty()
    }

    /// Does the offer have the keyboard? Only while nothing is typed.
    pub fn offer_takes_keys(&self) -> bool {
        self.offers() && self.layer.is_none() && self.editor.is_empty()
    }

    /// When the model wants to be called though nothing came in: a spinner's next
    /// frame, a notice that goes, a dialog that takes the keyboard.
    pub fn wake(&self) -> Option<Duration> {
        let waits = self.transcript.wait().is_some() || self.probes().is_some();
        let spins = self.runs_a_tool() || waits || self.answers();
        let spinner = spins.then(|| {
            let step = SPINNER_STEP.as_millis() as u64;
            Duration::from_millis((self.now.as_millis() as u64 / step + 1) * step)
        });
        let arms = self.asks.first().filter(|ask| ask.is_seen && !ask.armed);
        let arms = arms.map(|ask| ask.opened.max(self.last_key) + QUIET);
        let enter = self
            .burst
            .enter
            .map(|since| since + crate::tui::update::ENTER_HELD);
        let layer = self.layer.as_ref().and_then(|layer| layer.wake());
        let stuck = self.interrupt_sent.map(|since| since + ENGINE_SILENT);
        let stuck = stuck.filter(|due| self.now < *due);
        let notice = self.notices.due();
        [
            spinner,
            notice,
            arms,
            enter,
            self.replies.due(),
            layer,
            stuck,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Is a turn under way that waits for nobody's decision?
    pub fn answers(&self) -> bool {
        self.running().is_some() && self.asks.is_empty()
    }

    /// How long nothing has come of an answer that had begun, where that is long.
    pub fn silent(&self) -> Option<Duration> {
        let streams = self.answers() && self.transcript.wait().is_none() && !self.runs_a_tool();
        let silent = self.now.saturating_sub(self.clock.heard);
        (streams && silent >= SILENT_AFTER).then_some(silent)
    }

    fn runs_a_tool(&self) -> bool {
        let settled = self.transcript.settled();
        self.transcript.entries()[settled..].iter().any(|entry| {
            matches!(&entry.body, Body::Tool(call) if matches!(call.state, ToolState::Running { .. }))
        })
    }

    /// The question whose dialog is shown.
    pub fn ask(&self) -> Option<&OpenAsk> {
        self.asks.first()
    }

    /// Is the shown dialog about calls of tools?
    pub fn approves(&self) -> bool {
        self.ask()
            .is_some_and(|ask| matches!(ask.question, Ask::Approve(_)))
    }

    /// The text of the newest answer, raw.
    pub fn last_answer(&self) -> Option<&str> {
        let entries = self.transcript.entries().iter().rev();
        entries
            .filter_map(|entry| match &entry.body {
                Body::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .next()
    }
}
