//! Everything that the screen shows, as data: one owner for each feature. `update` changes
//! it, `view` draws it; neither does anything else.

use crate::domain::id::IdGenerator;
use crate::domain::{Notice, TurnId};
use crate::tui::TuiOptions;
use crate::tui::chat::state::Chat;
use crate::tui::composer::state::Composer;
use crate::tui::conversation::ConversationState;
use crate::tui::demo_tour::state::DemoTour;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::engine_state::EngineState;
use crate::tui::input::decode::ReplyFilter;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, Layer, SharedUiState, UiContext, UiRequest};
use crate::tui::models::first_run::FirstRun;
use crate::tui::notices::Notices;
use crate::tui::panes::PaneState;
use crate::tui::probe_progress::ProbeProgress;
use crate::tui::screen::ScreenState;
use crate::tui::servers::state::ServersPane;
use std::collections::VecDeque;
use std::time::Duration;

/// How long the engine may take to acknowledge a Ctrl+C: from then on the next one leaves.
const INTERRUPT_ACK_TIMEOUT: Duration = Duration::from_secs(1);
/// A stream that brings nothing for this long is said to be silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// One frame of the spinner.
const SPINNER_STEP: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct UiModel {
    pub now: Duration,
    pub screen: ScreenState,
    pub input: InputState,
    pub ids: IdGenerators,
    pub chat: Chat,
    pub conversation: ConversationState,
    pub composer: Composer,
    pub interrupt: InterruptState,
    pub panes: PaneState,
    /// What lies over the panes because the user opened it.
    pub layer: Option<Box<dyn Layer>>,
    /// Asked for by features and not carried out yet.
    pub requests: VecDeque<UiRequest>,
    pub dialogs: Dialogs,
    pub engine: EngineState,
    pub first_run: FirstRun,
    pub probe: Option<ProbeProgress>,
    pub servers_pane: ServersPane,
    pub notices: Notices,
    /// Leads through the keys, where it was asked for.
    pub tour: Option<DemoTour>,
}

#[derive(Debug, Default)]
pub struct InputState {
    pub replies: ReplyFilter,
    pub last_key: Duration,
}

#[derive(Debug, Default)]
pub struct IdGenerators {
    pub turns: IdGenerator,
    queries: IdGenerator,
}

#[derive(Debug, Default)]
pub struct InterruptState {
    /// The turn under way was told to stop.
    pub is_stopping: bool,
    /// When an interrupt was sent that the engine has not acknowledged.
    pub sent_at: Option<Duration>,
}

impl InterruptState {
    /// When the engine should have acknowledged it.
    fn ack_deadline(&self) -> Option<Duration> {
        self.sent_at.map(|since| since + INTERRUPT_ACK_TIMEOUT)
    }

    /// Has the engine left a Ctrl+C unacknowledged for too long?
    pub fn is_stuck(&self, now: Duration) -> bool {
        self.ack_deadline().is_some_and(|due| now >= due)
    }
}

impl UiModel {
    pub fn new(options: &TuiOptions, size: (u16, u16)) -> Self {
        let screen = ScreenState::new(options, size);
        let mut composer = Composer::default();
        let mut guide = options.tour_prompts.map(DemoTour::new);
        if let Some(guide) = &mut guide {
            guide.type_ahead(&mut composer.editor);
        }
        Self {
            now: Duration::ZERO,
            servers_pane: ServersPane::new(screen.glyphs.dot),
            screen,
            input: InputState::default(),
            ids: IdGenerators::default(),
            chat: Chat::default(),
            conversation: ConversationState::default(),
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
            tour: guide,
        }
    }

    pub fn notify(&mut self, notice: Notice) {
        self.notices.show(notice, self.now);
    }

    pub fn running_turn(&self) -> Option<TurnId> {
        self.chat.transcript.running_turn()
    }

    /// State of several owners that features may read.
    pub fn shared(&self) -> SharedUiState<'_> {
        SharedUiState {
            now: self.now,
            size: self.screen.size,
            glyphs: self.screen.glyphs,
            open_layer: self.layer.as_ref().and_then(|layer| layer.action()),
            engine: &self.engine,
            servers: &self.servers_pane.servers,
            transcript: &self.chat.transcript,
            prompts: self.composer.history().prompts(),
        }
    }

    /// Lets a feature act. What it asks for is carried out once the message is taken in.
    pub fn with_context<T>(&mut self, act: impl FnOnce(&mut UiContext) -> T) -> T {
        let mut queries = std::mem::take(&mut self.ids.queries);
        let mut requests = Vec::new();
        let done = act(&mut UiContext::new(
            self.shared(),
            &mut queries,
            &mut requests,
        ));
        self.ids.queries = queries;
        self.requests.extend(requests);
        done
    }

    /// Lets the open layer act; it goes where it is done.
    pub fn with_layer(
        &mut self,
        act: impl FnOnce(&mut dyn Layer, &mut UiContext) -> Handled,
    ) -> Handled {
        let Some(mut layer) = self.layer.take() else {
            return Handled::PassedOn;
        };
        let handled = self.with_context(|cx| act(layer.as_mut(), cx));
        if handled != Handled::Closed {
            self.layer = Some(layer);
        }
        handled
    }

    /// Lets the servers act.
    pub fn with_servers_pane(&mut self, act: impl FnOnce(&mut ServersPane, &mut UiContext)) {
        let mut sidebar = std::mem::replace(&mut self.servers_pane, ServersPane::new(""));
        self.with_context(|cx| act(&mut sidebar, cx));
        self.servers_pane = sidebar;
    }

    /// Lets the composer act.
    pub fn with_composer<T>(&mut self, act: impl FnOnce(&mut Composer, &mut UiContext) -> T) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let done = self.with_context(|cx| act(&mut composer, cx));
        self.composer = composer;
        done
    }

    /// Lets the dialogs act.
    pub fn with_dialogs<T>(&mut self, act: impl FnOnce(&mut Dialogs, &mut UiContext) -> T) -> T {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let done = self.with_context(|cx| act(&mut dialogs, cx));
        self.dialogs = dialogs;
        done
    }

    /// Does the shown dialog stand over the whole of an open layer?
    pub fn covers_layer(&self) -> bool {
        let shown = self.dialogs.current();
        shown.is_some_and(|ask| ask.covers_layer(self.shared().open_layer))
    }

    /// The rows that the shown dialog takes of `room`, or of `most` where it must.
    pub fn dialog_height(&mut self, columns: u16, room: u16, most: u16) -> u16 {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let rows = dialogs.height(self.shared(), columns, room, most);
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
    pub fn is_layer_open(&self, action: Action) -> bool {
        self.shared().open_layer == Some(action)
    }

    /// Is a first run's offer on the screen?
    pub fn offers_first_run(&self) -> bool {
        self.engine.catalog.offers
            && !self.first_run.is_closed()
            && self.engine.selected.is_none()
            && self.tour.is_none()
            && self.chat.transcript.entries().is_empty()
    }

    /// Does the offer have the keyboard? Only while nothing is typed.
    pub fn first_run_takes_keys(&self) -> bool {
        self.offers_first_run() && self.layer.is_none() && self.composer.editor.is_empty()
    }

    /// When the model wants to be called though nothing came in: a spinner's next
    /// frame, a notice that goes, a dialog that takes the keyboard.
    pub fn next_wake(&self) -> Option<Duration> {
        let waits = self.chat.transcript.wait().is_some() || self.active_probe().is_some();
        let spins = self.is_running_tool() || waits || self.is_answering();
        let spinner = spins.then(|| {
            let step = SPINNER_STEP.as_millis() as u64;
            Duration::from_millis((self.now.as_millis() as u64 / step + 1) * step)
        });
        let arms = self.dialogs.accepts_keys_at(self.input.last_key);
        let enter = self.composer.paste_detector.enter_due_at();
        let layer = self.layer.as_ref().and_then(|layer| layer.wake_at());
        let stuck = self.interrupt.ack_deadline().filter(|due| self.now < *due);
        let notice = self.notices.expires_at();
        [
            spinner,
            notice,
            arms,
            enter,
            self.input.replies.release_at(),
            layer,
            stuck,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Is a turn under way that waits for nobody's decision?
    pub fn is_answering(&self) -> bool {
        self.running_turn().is_some() && self.dialogs.current().is_none()
    }

    /// How long nothing has come of an answer that had begun, where that is long.
    pub fn silence(&self) -> Option<Duration> {
        let streams =
            self.is_answering() && self.chat.transcript.wait().is_none() && !self.is_running_tool();
        let silent = self.now.saturating_sub(self.chat.timing.last_event_at);
        (streams && silent >= SILENT_AFTER).then_some(silent)
    }

    fn is_running_tool(&self) -> bool {
        self.chat.running_calls().next().is_some()
    }

    /// The probe under way, before its result is there.
    pub fn active_probe(&self) -> Option<&ProbeProgress> {
        self.probe.as_ref().filter(|probe| !probe.state.is_finished)
    }

    /// Is the model taken, so that a prompt has to wait? What a probe found is read and
    /// perhaps stored first: it changes how the next prompt is sent.
    pub fn is_busy(&self) -> bool {
        self.running_turn().is_some() || self.probe.is_some()
    }
}
