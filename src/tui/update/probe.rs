//! `/probe` in the user interface: its progress, its end, and the keys that stop it.

use crate::domain::Notice;
use crate::domain::probe::ProbeState;
use crate::protocol::Command;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::probe::Probe;
use crate::tui::update::submit;
use std::time::Duration;

/// A probe of at least this length notifies the user when it ends.
const LONG: Duration = Duration::from_secs(10);

pub fn changed(model: &mut Model, state: Option<ProbeState>, effects: &mut Vec<Effect>) {
    let now = model.now;
    let Some(state) = state else {
        model.probe = None;
        // A second Ctrl+C meant for the probe must not quit.
        model.chat.timing.ended = Some(now);
        return submit::send_queued(model, effects);
    };
    let Some(probe) = &mut model.probe else {
        let text = format!("Probing {}. This may take a few minutes.", state.model);
        model.probe = Some(Probe {
            state,
            began: now,
            since: now,
        });
        return model.notify(Notice::info(text));
    };
    let at = |state: &ProbeState| (state.dialect, state.is_loading);
    if at(&probe.state) != at(&state) {
        probe.since = now;
    }
    let took = now.saturating_sub(probe.began);
    if state.is_over && !model.screen.has_focus && took >= LONG {
        effects.push(Effect::CallBack("humble: the probe has ended"));
    }
    probe.state = state;
}

/// Stops the probe. Returns false if there is none. A key meant for a probe that has just
/// ended does nothing.
pub fn stop(model: &mut Model, effects: &mut Vec<Effect>) -> bool {
    if model.probes().is_some() {
        model.composer.queue.pause();
        effects.push(Effect::Send(Command::StopProbe));
        return true;
    }
    model.probe.is_some() && model.dialogs.shown().is_some_and(|ask| !ask.armed)
}
