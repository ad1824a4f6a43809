//! `/probe` in the user interface: its progress, its end, and the keys that stop it.

use crate::domain::Notice;
use crate::domain::probe::ProbeState;
use crate::protocol::Command;
use crate::tui::msg::UiEffect;
use crate::tui::probe_progress::ProbeProgress;
use crate::tui::ui_model::UiModel;
use crate::tui::update::submit;
use std::time::Duration;

/// A probe of at least this length notifies the user when it ends.
const NOTIFY_PROBE_MIN: Duration = Duration::from_secs(10);

pub fn probe_changed(model: &mut UiModel, state: Option<ProbeState>, effects: &mut Vec<UiEffect>) {
    let now = model.now;
    let Some(state) = state else {
        model.probe = None;
        // A second Ctrl+C meant for the probe must not quit.
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
    let at = |state: &ProbeState| (state.dialect, state.is_loading);
    if at(&probe.state) != at(&state) {
        probe.step_started_at = now;
    }
    let took = now.saturating_sub(probe.started_at);
    if state.is_finished && !model.screen.has_focus && took >= NOTIFY_PROBE_MIN {
        effects.push(UiEffect::Notify("humble: the probe has ended"));
    }
    probe.state = state;
}

/// Stops the probe. Returns false if there is none. A key meant for a probe that has just
/// ended does nothing.
pub fn stop_probe(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    if model.active_probe().is_some() {
        model.composer.queue.pause();
        effects.push(UiEffect::Send(Command::StopProbe));
        return true;
    }
    model.probe.is_some() && model.dialogs.current().is_some_and(|ask| !ask.accepts_keys)
}
