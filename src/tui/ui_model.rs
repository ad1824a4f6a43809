//! The complete state of the screen, one owner per feature. `update` changes it and `view`
//! draws it; nothing else touches it.

use crate::domain::id::IdGenerator;
use crate::domain::{AskId, Notice, TurnId};
use crate::tui::TuiOptions;
use crate::tui::chat::state::Chat;
use crate::tui::composer::completion::CompletionList;
use crate::tui::composer::state::Composer;
use crate::tui::conversation::ConversationState;
use crate::tui::demo_tour::state::DemoTour;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::state::Dialog;
use crate::tui::engine_state::EngineState;
use crate::tui::input::decode::ReplyFilter;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, Layer, SharedUiState, UiContext, UiRequest};
use crate::tui::models::first_run::FirstRun;
use crate::tui::notices::Notices;
use crate::tui::panes::{Focus, PaneState};
use crate::tui::probe_progress::ProbeProgress;
use crate::tui::screen::ScreenState;
use crate::tui::servers::state::ServersPane;
use std::collections::VecDeque;
use std::time::Duration;

/// How long the engine may take to acknowledge a Ctrl+C. After that, the next Ctrl+C quits.
const INTERRUPT_ACK_TIMEOUT: Duration = Duration::from_secs(1);
/// A stream without data for this long is reported as silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Duration of one spinner frame.
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
    /// The layer that the user opened over the panes.
    pub layer: Option<Box<dyn Layer>>,
    /// The question that was open when the layer was opened: the layer covers its dialog.
    covered_question: Option<AskId>,
    /// Requests of features that are not carried out yet.
    pub requests: VecDeque<UiRequest>,
    pub dialogs: Dialogs,
    pub engine: EngineState,
    pub first_run: FirstRun,
    pub probe: Option<ProbeProgress>,
    pub servers_pane: ServersPane,
    pub notices: Notices,
    /// The demo tour, if one was requested.
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
    /// The running turn was asked to stop.
    pub is_stopping: bool,
    /// When the interrupt was sent, until the engine acknowledges it.
    pub sent_at: Option<Duration>,
}

impl InterruptState {
    fn ack_deadline(&self) -> Option<Duration> {
        self.sent_at.map(|since| since + INTERRUPT_ACK_TIMEOUT)
    }

    /// Whether the engine left a Ctrl+C unacknowledged for too long.
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
            guide.type_step_prompt(&mut composer.editor);
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
            panes: PaneState::new(!options.is_sidebar_closed),
            layer: None,
            covered_question: None,
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

    /// Shows a notice until the next key.
    pub fn notify_about_key(&mut self, notice: Notice) {
        self.notices.show_about_key(notice, self.now);
    }

    /// Opens a layer in place of the open one, above the dialog.
    pub fn open_layer(&mut self, layer: Box<dyn Layer>) {
        self.covered_question = self.dialogs.current().map(|dialog| dialog.id);
        self.layer = Some(layer);
    }

    /// Whether the open layer covers the current dialog. A later question covers the layer.
    pub fn is_dialog_covered(&self) -> bool {
        let question = self.dialogs.current().map(|dialog| dialog.id);
        self.layer.is_some() && question.is_some() && question == self.covered_question
    }

    /// The dialog on the screen.
    pub fn visible_dialog(&self) -> Option<&Dialog> {
        self.dialogs.current().filter(|_| !self.is_dialog_covered())
    }

    /// Whether keys go to the dialog.
    pub fn dialog_has_keys(&self) -> bool {
        self.dialogs.accepts_keys() && !self.is_dialog_covered()
    }

    pub fn running_turn(&self) -> Option<TurnId> {
        self.chat.transcript.running_turn()
    }

    /// State that features may read.
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

    /// The open completion list. It is closed while the message does not have the keys.
    pub fn completions(&self) -> Option<CompletionList> {
        let is_typing = self.panes.focus == Focus::Message
            && self.layer.is_none()
            && self.dialogs.current().is_none();
        let list = is_typing.then(|| self.composer.completions(self.shared()));
        list.flatten()
    }

    /// Runs `act` with a feature context. Its requests are carried out after the current
    /// message.
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

    /// Runs `act` on the open layer and drops the layer once it reports that it is done.
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

    pub fn with_servers_pane(&mut self, act: impl FnOnce(&mut ServersPane, &mut UiContext)) {
        let mut sidebar = std::mem::replace(&mut self.servers_pane, ServersPane::new(""));
        self.with_context(|cx| act(&mut sidebar, cx));
        self.servers_pane = sidebar;
    }

    pub fn with_composer<T>(&mut self, act: impl FnOnce(&mut Composer, &mut UiContext) -> T) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let done = self.with_context(|cx| act(&mut composer, cx));
        self.composer = composer;
        done
    }

    pub fn with_dialogs<T>(&mut self, act: impl FnOnce(&mut Dialogs, &mut UiContext) -> T) -> T {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let done = self.with_context(|cx| act(&mut dialogs, cx));
        self.dialogs = dialogs;
        done
    }

    /// Whether the visible dialog covers the open layer completely.
    pub fn covers_layer(&self) -> bool {
        let shown = self.visible_dialog();
        shown.is_some_and(|ask| ask.covers_layer(self.shared().open_layer))
    }

    /// Height of the visible dialog: at most `room` rows, or up to `most` if it needs them.
    pub fn dialog_height(&mut self, columns: u16, room: u16, most: u16) -> u16 {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let rows = dialogs.height(self.shared(), columns, room, most);
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
    pub fn is_layer_open(&self, action: Action) -> bool {
        self.shared().open_layer == Some(action)
    }

    /// Whether no model was ever configured, so that the user has to choose one first.
    pub fn needs_first_model(&self) -> bool {
        let is_chosen = self.engine.selected.is_some();
        self.engine.catalog.offers_discovered && !is_chosen && self.tour.is_none()
    }

    /// Whether the first-run chooser is visible.
    pub fn offers_first_run(&self) -> bool {
        self.needs_first_model()
            && !self.first_run.is_closed()
            && self.chat.transcript.entries().is_empty()
    }

    /// Shows the first-run chooser again after the user skipped it. Returns false if it is
    /// already visible, or cannot be.
    pub fn reopen_first_run(&mut self) -> bool {
        let is_empty = self.chat.transcript.entries().is_empty();
        self.needs_first_model() && is_empty && self.first_run.reopen(self.now)
    }

    /// Whether the first-run chooser has the keyboard: only while the message is empty.
    pub fn first_run_takes_keys(&self) -> bool {
        self.offers_first_run() && self.layer.is_none() && self.composer.editor.is_empty()
    }

    /// The next time that the model needs a tick: a spinner frame, an expiring notice, a
    /// dialog that starts to accept keys.
    pub fn next_wake(&self) -> Option<Duration> {
        let waits = self.chat.transcript.wait().is_some() || self.active_probe().is_some();
        let spins = self.is_running_tool() || waits || self.is_answering();
        let spinner = spins.then(|| {
            let step = SPINNER_STEP.as_millis() as u64;
            Duration::from_millis((self.now.as_millis() as u64 / step + 1) * step)
        });
        let arms = self.dialogs.accepts_keys_at(self.input.last_key);
        let arms = arms.filter(|_| !self.is_dialog_covered());
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

    /// Whether a turn is running without waiting for a decision.
    pub fn is_answering(&self) -> bool {
        self.running_turn().is_some() && self.dialogs.current().is_none()
    }

    /// Time since the last data of a streaming answer, once it exceeds [`SILENT_AFTER`].
    pub fn silence(&self) -> Option<Duration> {
        let streams =
            self.is_answering() && self.chat.transcript.wait().is_none() && !self.is_running_tool();
        let silent = self.now.saturating_sub(self.chat.timing.last_event_at);
        (streams && silent >= SILENT_AFTER).then_some(silent)
    }

    fn is_running_tool(&self) -> bool {
        self.chat.running_calls().next().is_some()
    }

    /// The running probe, until it has a result.
    pub fn active_probe(&self) -> Option<&ProbeProgress> {
        self.probe.as_ref().filter(|probe| !probe.state.is_finished)
    }

    /// Whether a new prompt has to wait. A finished probe also blocks until it is closed,
    /// because storing its result changes how the next prompt is sent.
    pub fn is_busy(&self) -> bool {
        self.running_turn().is_some() || self.probe.is_some()
    }
}
