//! Everything that the screen shows, as data: one owner for each feature. `update` changes
//! it, `view` draws it; neither does anything else.

use crate::domain::id::Mint;
use crate::domain::{Notice, TurnId};
use crate::tui::Options;
use crate::tui::chat::state::Chat;
use crate::tui::composer::state::Composer;
use crate::tui::conversation::Conversation;
use crate::tui::demo_tour::state::Guide;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::engine_state::EngineState;
use crate::tui::input::decode::ReplyFilter;
use crate::tui::keymap::Action;
use crate::tui::layer::{Cx, Handled, Layer, Request, Shared};
use crate::tui::models::first_run::FirstRun;
use crate::tui::notices::Notices;
use crate::tui::panes::PaneState;
use crate::tui::probe::Probe;
use crate::tui::screen::Screen;
use crate::tui::servers::state::Sidebar;
use std::collections::VecDeque;
use std::time::Duration;

/// How long the engine may take to acknowledge a Ctrl+C: from then on the next one leaves.
const ENGINE_SILENT: Duration = Duration::from_secs(1);
/// A stream that brings nothing for this long is said to be silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// One frame of the spinner.
const SPINNER_STEP: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Model {
    pub now: Duration,
    pub screen: Screen,
    pub input: InputState,
    pub ids: Ids,
    pub chat: Chat,
    pub conversation: Conversation,
    pub composer: Composer,
    pub interrupt: InterruptState,
    pub panes: PaneState,
    /// What lies over the panes because the user opened it.
    pub layer: Option<Box<dyn Layer>>,
    /// Asked for by features and not carried out yet.
    pub requests: VecDeque<Request>,
    pub dialogs: Dialogs,
    pub engine: EngineState,
    pub first_run: FirstRun,
    pub probe: Option<Probe>,
    pub sidebar: Sidebar,
    pub notices: Notices,
    /// Leads through the keys, where it was asked for.
    pub guide: Option<Guide>,
}

#[derive(Debug, Default)]
pub struct InputState {
    pub replies: ReplyFilter,
    pub last_key: Duration,
}

#[derive(Debug, Default)]
pub struct Ids {
    pub turns: Mint,
    queries: Mint,
}

#[derive(Debug, Default)]
pub struct InterruptState {
    /// The turn under way was told to stop.
    pub is_stopping: bool,
    /// When an interrupt was sent that the engine has not acknowledged.
    pub sent: Option<Duration>,
}

impl InterruptState {
    /// When the engine should have acknowledged it.
    fn due(&self) -> Option<Duration> {
        self.sent.map(|since| since + ENGINE_SILENT)
    }

    /// Has the engine left a Ctrl+C unacknowledged for too long?
    pub fn is_stuck(&self, now: Duration) -> bool {
        self.due().is_some_and(|due| now >= due)
    }
}

impl Model {
    pub fn new(options: &Options, size: (u16, u16)) -> Self {
        let screen = Screen::new(options, size);
        let mut composer = Composer::default();
        let mut guide = options.guide.map(Guide::new);
        if let Some(guide) = &mut guide {
            guide.type_ahead(&mut composer.editor);
        }
        Self {
            now: Duration::ZERO,
            sidebar: Sidebar::new(screen.glyphs.dot),
            screen,
            input: InputState::default(),
            ids: Ids::default(),
            chat: Chat::default(),
            conversation: Conversation::default(),
            composer,
            interrupt: InterruptState::default(),
            panes: PaneState::default(),
            layer: None,
            requests: VecDeque::new(),
            dialogs: Dialogs::default(),
            engine: EngineState::default(),
            first_run: FirstRun::default(),
            probe: None,
            notices: Notices::default(),
            guide,
        }
    }

    pub fn notify(&mut self, notice: Notice) {
        self.notices.show(notice, self.now);
    }

    pub fn running(&self) -> Option<TurnId> {
        self.chat.transcript.running()
    }

    /// State of several owners that features may read.
    pub fn shared(&self) -> Shared<'_> {
        Shared {
            now: self.now,
            size: self.screen.size,
            glyphs: self.screen.glyphs,
            opened: self.layer.as_ref().and_then(|layer| layer.action()),
            engine: &self.engine,
            servers: &self.sidebar.servers,
            transcript: &self.chat.transcript,
            prompts: self.composer.history().prompts(),
        }
    }

    /// Lets a feature act. What it asks for is carried out once the message is taken in.
    pub fn cx<T>(&mut self, act: impl FnOnce(&mut Cx) -> T) -> T {
        let mut queries = std::mem::take(&mut self.ids.queries);
        let mut requests = Vec::new();
        let done = act(&mut Cx::new(self.shared(), &mut queries, &mut requests));
        self.ids.queries = queries;
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

    /// Lets the composer act.
    pub fn with_composer<T>(&mut self, act: impl FnOnce(&mut Composer, &mut Cx) -> T) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let done = self.cx(|cx| act(&mut composer, cx));
        self.composer = composer;
        done
    }

    /// Lets the dialogs act.
    pub fn with_dialogs<T>(&mut self, act: impl FnOnce(&mut Dialogs, &mut Cx) -> T) -> T {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let done = self.cx(|cx| act(&mut dialogs, cx));
        self.dialogs = dialogs;
        done
    }

    /// Does the shown dialog stand over the whole of an open layer?
    pub fn covers_layer(&self) -> bool {
        let shown = self.dialogs.shown();
        shown.is_some_and(|ask| ask.covers_layer(self.shared().opened))
    }

    /// The rows that the shown dialog takes of `room`, or of `most` where it must.
    pub fn dialog_rows(&mut self, columns: u16, room: u16, most: u16) -> u16 {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let rows = dialogs.rows(self.shared(), columns, room, most);
        self.dialogs = dialogs;
        rows
    }

    /// Moves the open layer by rows.
    pub fn scroll_layer(&mut self, rows: isize) {
        self.with_layer(|layer, cx| {
            layer.scroll(rows, cx.shared);
            Handled::Consumed
        });
    }

    /// Is the layer open that this action opens?
    pub fn shows(&self, action: Action) -> bool {
        self.shared().opened == Some(action)
    }

    /// Is a first run's offer on the screen?
    pub fn offers(&self) -> bool {
        self.engine.catalog.offers
            && !self.first_run.is_closed()
            && self.engine.selected.is_none()
            && self.guide.is_none()
            && self.chat.transcript.entries().is_empty()
    }

    /// Does the offer have the keyboard? Only while nothing is typed.
    pub fn offer_takes_keys(&self) -> bool {
        self.offers() && self.layer.is_none() && self.composer.editor.is_empty()
    }

    /// When the model wants to be called though nothing came in: a spinner's next
    /// frame, a notice that goes, a dialog that takes the keyboard.
    pub fn wake(&self) -> Option<Duration> {
        let waits = self.chat.transcript.wait().is_some() || self.probes().is_some();
        let spins = self.runs_a_tool() || waits || self.answers();
        let spinner = spins.then(|| {
            let step = SPINNER_STEP.as_millis() as u64;
            Duration::from_millis((self.now.as_millis() as u64 / step + 1) * step)
        });
        let arms = self.dialogs.arms_at(self.input.last_key);
        let enter = self.composer.pasting.due();
        let layer = self.layer.as_ref().and_then(|layer| layer.wake());
        let stuck = self.interrupt.due().filter(|due| self.now < *due);
        let notice = self.notices.due();
        [
            spinner,
            notice,
            arms,
            enter,
            self.input.replies.due(),
            layer,
            stuck,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Is a turn under way that waits for nobody's decision?
    pub fn answers(&self) -> bool {
        self.running().is_some() && self.dialogs.shown().is_none()
    }

    /// How long nothing has come of an answer that had begun, where that is long.
    pub fn silent(&self) -> Option<Duration> {
        let streams =
            self.answers() && self.chat.transcript.wait().is_none() && !self.runs_a_tool();
        let silent = self.now.saturating_sub(self.chat.timing.heard);
        (streams && silent >= SILENT_AFTER).then_some(silent)
    }

    fn runs_a_tool(&self) -> bool {
        self.chat.running_calls().next().is_some()
    }

    /// The probe under way, before its result is there.
    pub fn probes(&self) -> Option<&Probe> {
        self.probe.as_ref().filter(|probe| !probe.state.is_over)
    }

    /// Is the model taken, so that a prompt has to wait? What a probe found is read and
    /// perhaps stored first: it changes how the next prompt is sent.
    pub fn is_busy(&self) -> bool {
        self.running().is_some() || self.probe.is_some()
    }
}
