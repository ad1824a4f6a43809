//! The complete state of the screen, one owner per feature. `update` changes it and `view`
//! draws it; features never access it.

use crate::domain::id::IdGenerator;
use crate::domain::{AskId, Banner, Notice, RecentCommands, ToolCall, TurnId};
use crate::front_end::conversation_state::ConversationState;
use crate::front_end::engine_state::EngineState;
use crate::tui::attachments::state::AttachmentList;
use crate::tui::chat::state::Chat;
use crate::tui::composer::completion::CompletionList;
use crate::tui::composer::state::Composer;
use crate::tui::demo_tour::state::DemoTour;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::state::Dialog;
use crate::tui::elicitation::sampling_progress::SamplingProgress;
use crate::tui::input::spent_keys::SpentKeys;
use crate::tui::interrupt_state::InterruptState;
use crate::tui::keymap::{Action, KeyProtocol, Keymap};
use crate::tui::layer::{Busy, Handled, Layer, SharedUiState, UiContext, UiRequest};
use crate::tui::models::first_run::FirstRun;
use crate::tui::notices::Notices;
use crate::tui::panes::{Focus, PaneState};
use crate::tui::probe_progress::ProbeProgress;
use crate::tui::screen::ScreenState;
use crate::tui::servers::state::ServersPane;
use crate::tui::templates::problems::TemplateProblems;
use crate::tui::{NeedsNoModelFn, TuiOptions};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A stream without data for this long is reported as silent.
const SILENT_AFTER: Duration = Duration::from_secs(5);
const SPINNER_STEP: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct UiModel {
    pub now: Duration,
    pub screen: ScreenState,
    pub input: InputState,
    pub keymap: Keymap,
    /// The folder with the program's files.
    home: String,
    pub ids: IdGenerators,
    pub chat: Chat,
    pub conversation: ConversationState,
    pub composer: Composer,
    pub attachments: AttachmentList,
    pub recent_commands: RecentCommands,
    pub template_problems: TemplateProblems,
    pub interrupt: InterruptState,
    pub panes: PaneState,
    /// The layer that the user opened over the panes.
    pub layer: Option<Box<dyn Layer>>,
    /// The question that was open when the layer was opened: the layer covers its dialog.
    covered_question: Option<AskId>,
    /// The question that was open when the layer below the open one was opened.
    covered_below: Option<AskId>,
    /// Requests by features that have not been carried out yet.
    pub requests: VecDeque<UiRequest>,
    pub dialogs: Dialogs,
    pub engine: EngineState,
    pub first_run: FirstRun,
    pub needs_no_model: NeedsNoModelFn,
    pub probe: Option<ProbeProgress>,
    /// Progress of the answers that the model generates for servers, if any.
    pub sampling: Option<SamplingProgress>,
    pub servers_pane: ServersPane,
    pub notices: Notices,
    /// The demo tour, if one was requested.
    pub tour: Option<DemoTour>,
}

#[derive(Debug, Default)]
pub struct InputState {
    /// When a key other than Esc was last pressed, or text was pasted.
    pub last_key: Duration,
    /// When any key was last pressed, or text was pasted.
    pub last_press: Duration,
    pub spent_keys: SpentKeys,
    /// Whether a notice has named the setting that tmux needs for copying.
    pub has_explained_tmux: bool,
}

#[derive(Debug, Default)]
pub struct IdGenerators {
    pub turns: IdGenerator,
    queries: IdGenerator,
}

impl UiModel {
    pub fn new(options: &TuiOptions, size: (u16, u16)) -> Self {
        let screen = ScreenState::new(options, size);
        let mut composer = Composer::default();
        let mut tour = options.tour_prompts.map(DemoTour::new);
        if let Some(tour) = &mut tour {
            tour.type_step_prompt(&mut composer.editor);
        }
        let mut keymap = Keymap::new(Arc::clone(&options.keys), KeyProtocol::default());
        // Only a change in this run is worth a notice; a lasting choice is not repeated at each start.
        keymap.take_lost_key_notice();
        Self {
            now: Duration::ZERO,
            servers_pane: ServersPane::new(screen.glyphs.dot),
            screen,
            input: InputState::default(),
            home: options.home.clone(),
            needs_no_model: options.needs_no_model,
            keymap,
            ids: IdGenerators::default(),
            chat: Chat::default(),
            conversation: ConversationState {
                is_opening: options.opens_session,
                ..ConversationState::default()
            },
            composer,
            attachments: AttachmentList::default(),
            recent_commands: RecentCommands::default(),
            template_problems: TemplateProblems::default(),
            interrupt: InterruptState::default(),
            panes: PaneState::new(!options.is_sidebar_closed),
            layer: None,
            covered_question: None,
            covered_below: None,
            requests: VecDeque::new(),
            dialogs: Dialogs::default(),
            engine: EngineState::default(),
            first_run: FirstRun::default(),
            probe: None,
            sampling: None,
            notices: Notices::default(),
            tour,
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
        self.covered_below = self.covered_question;
        self.covered_question = self.dialogs.current().map(|dialog| dialog.id);
        self.layer = Some(layer);
    }

    /// Closes the open layer. The one that it was opened over, if any, is open again.
    pub fn close_layer(&mut self) {
        let layer = self.layer.take();
        self.layer = layer.and_then(|layer| self.reopened_below(layer));
    }

    /// The layer that is open again after this one was closed.
    fn reopened_below(&mut self, mut closed: Box<dyn Layer>) -> Option<Box<dyn Layer>> {
        let below = closed.take_below()?;
        self.covered_question = self.covered_below;
        Some(below)
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

    /// All banners: those of the engine, and those about the user's key settings.
    pub fn banners(&self) -> impl Iterator<Item = &Banner> {
        self.engine.banners.iter().chain(self.keymap.banners())
    }

    /// State that features may read.
    pub fn shared(&self) -> SharedUiState<'_> {
        SharedUiState {
            now: self.now,
            size: self.screen.size,
            glyphs: self.screen.glyphs,
            markdown_glyphs: self.screen.markdown_glyphs(),
            open_layer: self.layer.as_ref().and_then(|layer| layer.action()),
            focus: self.panes.focus,
            keymap: &self.keymap,
            home: &self.home,
            engine: &self.engine,
            conversation: &self.conversation,
            busy: self.busy(),
            themes: &self.screen.themes,
            servers: &self.servers_pane.servers,
            transcript: &self.chat.transcript,
            selected_call: self.selected_call().map(|call| call.id),
            prompts: self.composer.history().prompts(),
            recent_commands: &self.recent_commands,
            attached_files: self.attachments.files(),
        }
    }

    /// The open completion list; `None` if none is open, or while keys do not go to the message.
    pub fn completions(&self) -> Option<CompletionList> {
        let is_typing = self.panes.focus == Focus::Message
            && self.layer.is_none()
            && self.dialogs.current().is_none();
        let files = || self.attachments.completions(&self.composer);
        let commands = || self.composer.completions(self.shared());
        is_typing.then(|| files().or_else(commands)).flatten()
    }

    /// Runs `act` with a feature context. The requests made in it are carried out after the
    /// current input has been applied.
    pub fn with_context<T>(&mut self, act: impl FnOnce(&mut UiContext) -> T) -> T {
        let mut query_ids = std::mem::take(&mut self.ids.queries);
        let mut requests = Vec::new();
        let result = act(&mut UiContext::new(
            self.shared(),
            &mut query_ids,
            &mut requests,
        ));
        self.ids.queries = query_ids;
        self.requests.extend(requests);
        result
    }

    /// Runs `act` on the open layer and drops the layer once it reports that it is finished.
    pub fn with_layer(
        &mut self,
        act: impl FnOnce(&mut dyn Layer, &mut UiContext) -> Handled,
    ) -> Handled {
        let Some(mut layer) = self.layer.take() else {
            return Handled::PassedOn;
        };
        let handled = self.with_context(|cx| act(layer.as_mut(), cx));
        self.layer = match handled {
            Handled::Closed => self.reopened_below(layer),
            _ => Some(layer),
        };
        handled
    }

    pub fn with_servers_pane(&mut self, act: impl FnOnce(&mut ServersPane, &mut UiContext)) {
        let mut servers_pane = std::mem::replace(&mut self.servers_pane, ServersPane::new(""));
        self.with_context(|cx| act(&mut servers_pane, cx));
        self.servers_pane = servers_pane;
    }

    pub fn with_composer<T>(&mut self, act: impl FnOnce(&mut Composer, &mut UiContext) -> T) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let result = self.with_context(|cx| act(&mut composer, cx));
        self.composer = composer;
        result
    }

    pub fn with_dialogs<T>(&mut self, act: impl FnOnce(&mut Dialogs, &mut UiContext) -> T) -> T {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let result = self.with_context(|cx| act(&mut dialogs, cx));
        self.dialogs = dialogs;
        result
    }

    /// Whether the visible dialog covers the open layer completely.
    pub fn covers_layer(&self) -> bool {
        let current = self.visible_dialog();
        current.is_some_and(|dialog| dialog.covers_layer(self.shared().open_layer))
    }

    /// Height of the current dialog: at most `usual_max` rows, or up to `hard_max` if it would not fit
    /// otherwise or the user enlarged it.
    pub fn dialog_height(&mut self, columns: u16, usual_max: u16, hard_max: u16) -> u16 {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        let rows = dialogs.height(self.shared(), columns, usual_max, hard_max);
        self.dialogs = dialogs;
        rows
    }

    pub fn scroll_layer(&mut self, rows: isize) {
        self.with_layer(|layer, cx| {
            layer.scroll(rows, cx.shared);
            layer.load_selected(cx);
            Handled::Consumed
        });
    }

    /// Whether the layer that this action opens is open.
    pub fn is_layer_open(&self, action: Action) -> bool {
        self.shared().open_layer == Some(action)
    }

    /// The path of `config.json`.
    pub fn config_file(&self) -> String {
        format!("{}/config.json", self.home)
    }

    /// Whether no model is configured yet, so that the user has to choose one first.
    pub fn needs_first_model(&self) -> bool {
        let has_model = self.engine.selected.is_some();
        self.engine.catalog.offers_discovered && !has_model && self.tour.is_none()
    }

    /// Whether the first-run chooser is visible.
    pub fn offers_first_run(&self) -> bool {
        self.needs_first_model()
            && !self.first_run.is_closed()
            && self.chat.transcript.entries().is_empty()
    }

    /// Shows the first-run chooser again after the user skipped it. Returns false if it is
    /// already visible or must not be shown.
    pub fn reopen_first_run(&mut self) -> bool {
        let is_empty = self.chat.transcript.entries().is_empty();
        self.needs_first_model() && is_empty && self.first_run.reopen(self.now)
    }

    /// Whether the first-run chooser has the keyboard: only while the message is empty.
    pub fn first_run_takes_keys(&self) -> bool {
        self.offers_first_run() && self.layer.is_none() && self.composer.editor.is_empty()
    }

    /// When `update` needs the next tick, for example for a spinner frame, an expiring notice or a
    /// dialog that starts to accept keys.
    pub fn next_wake(&self) -> Option<Duration> {
        let has_job = self.active_probe().is_some() || self.sampling.is_some();
        let is_waiting = self.chat.transcript.wait_reason().is_some() || has_job;
        let has_spinner = self.is_running_tool() || is_waiting || self.is_answering();
        // While text streams in, the spinner turns with the frames that show the text.
        let quiet_from = self.chat.timing.last_event_at + SPINNER_STEP;
        let spinner = has_spinner.then(|| {
            let step = SPINNER_STEP.as_millis() as u64;
            let next = Duration::from_millis((self.now.as_millis() as u64 / step + 1) * step);
            next.max(quiet_from)
        });
        let dialog_accepts_at = self.dialogs.accepts_keys_at(self.input.last_key);
        let dialog_accepts_at = dialog_accepts_at.filter(|_| !self.is_dialog_covered());
        let held_letter = self.dialogs.letter_due_at();
        let first_run_digit = self.first_run.digit_due_at();
        let first_run_digit = first_run_digit.filter(|_| self.first_run_takes_keys());
        let held_enter = self.composer.paste_detector.enter_due_at();
        let layer_wake = self.layer.as_ref().and_then(|layer| layer.wake_at());
        let ack_deadline = self.interrupt.ack_deadline().filter(|due| self.now < *due);
        let notice = self.notices.expires_at();
        let find = self.chat.find.as_ref();
        let is_finding = find.is_some_and(|find| find.is_searching(&self.chat.transcript));
        let find_step = is_finding.then_some(self.now);
        [
            spinner,
            notice,
            dialog_accepts_at,
            held_letter,
            first_run_digit,
            held_enter,
            self.composer.draft_due_at(),
            layer_wake,
            ack_deadline,
            self.chat.mouse.scroll_due_at(),
            find_step,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Whether a turn is running without waiting for a decision.
    pub fn is_answering(&self) -> bool {
        self.running_turn().is_some() && self.dialogs.current().is_none()
    }

    /// Time since the last data of a streaming answer, once it reaches [`SILENT_AFTER`].
    pub fn silence(&self) -> Option<Duration> {
        let is_streaming = self.is_answering()
            && self.chat.transcript.wait_reason().is_none()
            && !self.is_running_tool();
        let silence = self.now.saturating_sub(self.chat.timing.last_event_at);
        (is_streaming && silence >= SILENT_AFTER).then_some(silence)
    }

    fn is_running_tool(&self) -> bool {
        self.chat.running_calls().next().is_some()
    }

    /// The running probe, until it has a result.
    pub fn active_probe(&self) -> Option<&ProbeProgress> {
        self.probe.as_ref().filter(|probe| !probe.state.is_finished)
    }

    /// The call selected in the chat, if that has the focus.
    pub fn selected_call(&self) -> Option<&ToolCall> {
        let has_focus = self.panes.focus == Focus::Chat;
        self.chat.selected_call().filter(|_| has_focus)
    }

    pub fn is_busy(&self) -> bool {
        self.busy().is_some()
    }

    /// What a new prompt has to wait for. A finished probe also blocks until it is closed, because
    /// storing its result changes how the next prompt is sent.
    pub fn busy(&self) -> Option<Busy> {
        let (reason, can_be_stopped) = match self.running_turn() {
            Some(_) => ("A turn is still running.", true),
            None if self.active_probe().is_some() => ("A probe is still running.", true),
            None if self.probe.is_some() => {
                ("The result of the probe waits for your answer.", false)
            }
            None if self.conversation.is_opening => {
                ("The conversation is still being opened.", false)
            }
            None if self.conversation.requested_summary.is_some() => ("A turn is starting.", true),
            None => return None,
        };
        Some(Busy {
            reason,
            can_be_stopped,
        })
    }
}
