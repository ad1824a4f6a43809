//! The complete state of the screen, one owner per feature. `update` changes it and `view`
//! draws it; nothing else touches it.

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

/// How long the engine may take to acknowledge a Ctrl+C. After that, the next Ctrl+C quits.
const ENGINE_SILENT: Duration = Duration::from_secs(1);
/// A stream without data for this long is reported as silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Duration of one spinner frame.
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
    /// The layer that the user opened over the panes.
    pub layer: Option<Box<dyn Layer>>,
    /// Requests of features that are not carried out yet.
    pub requests: VecDeque<Request>,
    pub dialogs: Dialogs,
    pub engine: EngineState,
    pub first_run: FirstRun,
    pub probe: Option<Probe>,
    pub sidebar: Sidebar,
    pub notices: Notices,
    /// The demo tour, if one was requested.
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
    /// The running turn was asked to stop.
    pub is_stopping: bool,
    /// When the interrupt was sent, until the engine acknowledges it.
    pub sent: Option<Duration>,
}

impl InterruptState {
    fn due(&self) -> Option<Duration> {
        self.sent.map(|since| since + ENGINE_SILENT)
    }

    /// Whether the engine left a Ctrl+C unacknowledged for too long.
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

    /// State that features may read.
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

    /// Runs `act` with a feature context. Its requests are carried out after the current
    /// message.
    pub fn cx<T>(&mut self, act: impl FnOnce(&mut Cx) -> T) -> T {
        let mut queries = std::mem::take(&mut self.ids.queries);
        let mut requests = Vec::new();
        let done = act(&mut Cx::new(self.shared(), &mut queries, &mut requests));
        self.ids.queries = queries;
        self.requests.extend(requests);
        done
    }

    /// Runs `act` on the open layer and drops the layer once it reports that it is done.
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

    pub fn with_servers(&mut self, act: impl FnOnce(&mut Sidebar, &mut Cx)) {
        let mut sidebar = std::mem::replace(&mut self.sidebar, Sidebar::new(""));
        self.cx(|cx| act(&mut sidebar, cx));
        self.sidebar = sidebar;
    }

    pub fn with_composer<T>(&mut self, act: impl FnOnce(&mut Composer, &mut Cx) -> T) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let done = self.cx(|cx| act(&mut composer, cx));
        self.composer = composer;
        done
    }

    pub fn with_dialogs<T>(&mut self, act: impl FnOnce(&mut Dialogs, &mut Cx) -> T) -> T {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let done = self.cx(|cx| act(&mut dialogs, cx));
        self.dialogs = dialogs;
        done
    }

    /// Whether the visible dialog covers the open layer completely.
    pub fn covers_layer(&self) -> bool {
        let shown = self.dialogs.shown();
        shown.is_some_and(|ask| ask.covers_layer(self.shared().opened))
    }

    /// Height of the visible dialog: at most `room` rows, or up to `most` if it needs them.
    pub fn dialog_rows(&mut self, columns: u16, room: u16, most: u16) -> u16 {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let rows = dialogs.rows(self.shared(), columns, room, most);
        self.dialogs = dialogs;
        rows
    }

    pub fn scroll_layer(&mut self, rows: isize) {
        self.with_layer(|layer, cx| {
            layer.scroll(rows, cx.shared);
            Handled::Consumed
        });
    }

    /// Whether the layer of this action is open.
    pub fn shows(&self, action: Action) -> bool {
        self.shared().opened == Some(action)
    }

    /// Whether the first-run chooser is visible.
    pub fn offers(&self) -> bool {
        self.engine.catalog.offers
            && !self.first_run.is_closed()
            && self.engine.selected.is_none()
            && self.guide.is_none()
            && self.chat.transcript.entries().is_empty()
    }

    /// Whether the first-run chooser has the keyboard: only while the message is empty.
    pub fn offer_takes_keys(&self) -> bool {
        self.offers() && self.layer.is_none() && self.composer.editor.is_empty()
    }

    /// The next time that the model needs a tick: a spinner frame, an expiring notice, a
    /// dialog that starts to accept keys.
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

    /// Whether a turn is running without waiting for a decision.
    pub fn answers(&self) -> bool {
        self.running().is_some() && self.dialogs.shown().is_none()
    }

    /// Time since the last data of a streaming answer, once it exceeds [`SILENT_AFTER`].
    pub fn silent(&self) -> Option<Duration> {
        let streams =
            self.answers() && self.chat.transcript.wait().is_none() && !self.runs_a_tool();
        let silent = self.now.saturating_sub(self.chat.timing.heard);
        (streams && silent >= SILENT_AFTER).then_some(silent)
    }

    fn runs_a_tool(&self) -> bool {
        self.chat.running_calls().next().is_some()
    }

    /// The running probe, until it has a result.
    pub fn probes(&self) -> Option<&Probe> {
        self.probe.as_ref().filter(|probe| !probe.state.is_over)
    }

    /// Whether a new prompt has to wait. A finished probe also blocks until it is closed,
    /// because storing its result changes how the next prompt is sent.
    pub fn is_busy(&self) -> bool {
        self.running().is_some() || self.probe.is_some()
    }
}
