//! What of the message is kept when the program ends, and what never is: words that
//! were typed in a private conversation stay off the disk after it has ended, until
//! the person sends them somewhere.

use crate::protocol::Command;
use crate::tui::demo_tour;
use crate::tui::model::Model;
use crate::tui::msg::Effect;

#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The message or the queue holds words that were typed in private.
    is_private: bool,
    /// The engine was asked for a private conversation and has not answered yet.
    private_asked: bool,
    /// The last run's draft stands in the message, and still on the disk.
    pub on_disk: bool,
}

/// Looks at what the last message made of the model, and at what it asks for.
pub fn follow(model: &mut Model, effects: &mut Vec<Effect>) {
    let asked = |effect: &Effect| *effect == Effect::Send(Command::SetPrivate(true));
    model.draft.private_asked |= effects.iter().any(asked);
    let holds = holds(model);
    let draft = &mut model.draft;
    draft.is_private = holds && (draft.is_private || draft.private_asked || model.private);
    // It was sent or thrown away: nothing offers it a second time.
    if !holds && std::mem::take(&mut draft.on_disk) {
        effects.push(Effect::Send(Command::KeepDraft(String::new())));
    }
}

/// Is a word here that is in no conversation yet?
fn holds(model: &Model) -> bool {
    let aside = model.history.at.is_some() && !model.history.aside.trim().is_empty();
    let before = model.editing.as_ref();
    !model.editor.is_blank()
        || aside
        || before.is_some_and(|before| !before.trim().is_empty())
        || !model.queue.prompts.is_empty()
}

/// A prompt joined what Up brings back.
pub fn remembered(model: &mut Model) {
    if model.private || model.draft.private_asked {
        model.history.private += 1;
    }
}

pub fn private_changed(model: &mut Model, private: bool) {
    model.private = private;
    model.draft.private_asked = false;
    if private {
        return;
    }
    // What was asked in private is not to be found by Up any more.
    if model.history.private > 0
        && let Some(at) = model.history.at.take()
        && model.history.prompts.get(at) == Some(&model.editor.text())
    {
        let aside = std::mem::take(&mut model.history.aside);
        model.editor.set(&aside);
    }
    let private = std::mem::take(&mut model.history.private);
    let prompts = &mut model.history.prompts;
    prompts.truncate(prompts.len().saturating_sub(private));
}

/// The engine had no room for the command.
pub fn unsent(model: &mut Model, command: &Command) {
    match command {
        Command::SetPrivate(true) => model.draft.private_asked = false,
        // It is asked for again with the next key.
        Command::KeepDraft(text) if text.is_empty() => model.draft.on_disk = true,
        _ => {}
    }
}

/// What is offered at the next start: what was queued, what was being typed, and not
/// what stands in the message only because the person looked back at it.
pub fn kept(model: &Model) -> Option<String> {
    if model.private || model.draft.private_asked || model.draft.is_private {
        return None;
    }
    let mut kept: Vec<String> = model.queue.prompts.iter().cloned().collect();
    kept.extend(model.editing.clone());
    let typed = model.editor.text();
    let recalled = model.history.at.and_then(|at| {
        let prompt = model.history.prompts.get(at)?;
        Some((prompt, model.history.aside.clone()))
    });
    let edited = model.editing.is_some();
    let last = model.transcript.last_prompt().filter(|_| edited);
    let is_old = recalled
        .as_ref()
        .is_some_and(|(prompt, _)| **prompt == typed)
        || last.is_some_and(|(prompt, _)| prompt == typed);
    kept.extend(recalled.map(|(_, aside)| aside));
    if !is_old && !demo_tour::owns(model) {
        kept.push(typed);
    }
    kept.retain(|text| !text.trim().is_empty());
    (!kept.is_empty()).then(|| kept.join("\n\n"))
}
