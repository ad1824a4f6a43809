//! Progress, end and cancellation of a probe (`/probe`).

use crate::domain::Notice;
use crate::domain::probe::ProbeState;
use crate::protocol::Command;
use crate::tui::msg::UiEffect;
use crate::tui::probe_progress::ProbeProgress;
use crate::tui::ui_model::UiModel;
use crate::tui::update::submit;
use std::time::Duration;

/// When a probe of at least this length ends, the user is alerted if the terminal lacks the focus.
const NOTIFY_PROBE_MIN: Duration = Duration::from_secs(10);

pub fn probe_changed(model: &mut UiModel, state: Option<ProbeState>, effects: &mut Vec<UiEffect>) {
    let now = model.now;
    let Some(state) = state else {
        model.probe = None;
        // A Ctrl+C that comes just after the end was meant for the probe and must not quit.
        model.chat.timing.ended_at = Some(now);
        return submit::send_queued(model, effects);
    };
    let Some(probe) = &mut model.probe else {
        let text = format!("Probing {}. This may take a few minutes.", state.model);
        model.probe = Some(ProbeProgress {
            state,
            started_at: now,
            step_started_at: now,
        });
        return model.notify(Notice::info(text));
    };
    let step = |state: &ProbeState| (state.dialect, state.is_loading);
    if step(&probe.state) != step(&state) {
        probe.step_started_at = now;
    }
    let elapsed = now.saturating_sub(probe.started_at);
    if state.is_finished && !model.screen.has_focus && elapsed >= NOTIFY_PROBE_MIN {
        effects.push(UiEffect::Notify("humble: the probe has ended"));
    }
    probe.state = state;
}

/// Stops the running probe. Returns false if there is none. Also returns true, without any effect,
/// if the probe has just ended and its question accepts no keys yet: the key was meant for the
/// probe.
pub fn stop_probe(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    if model.active_probe().is_some() {
        model.composer.queue.pause();
        effects.push(UiEffect::Send(Command::StopProbe));
        return true;
    }
    model.probe.is_some()
        && model
            .dialogs
            .current()
            .is_some_and(|dialog| !dialog.accepts_keys)
}
