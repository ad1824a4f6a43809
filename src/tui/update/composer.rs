//! The message: typing, pasting, sending, the queue, and what was typed before.

use crate::domain::{COMPACT, Notice, Prompt, TurnEvent, TurnId};
use crate::protocol::{Command, Event};
use crate::tui::composer::draft;
use crate::tui::demo_tour;
use crate::tui::dialog;
use crate::tui::layer::Handled;
use crate::tui::model::{Focus, Model};
use crate::tui::msg::Effect;
use crate::tui::update::{ENTER_HELD, branches, commands, engine};
use crate::tui::widgets::editor::Edit;

/// Prompts kept for Up and Down.
const HISTORY_MAX: usize = 10_000;

pub fn type_char(model: &mut Model, c: char) {
    if model
        .burst
        .last_text
        .is_none_or(|last| model.now > last + ENTER_HELD)
    {
        model.burst.pasting = false;
    }
    model.burst.last_text = Some(model.now);
    model.history.at = None;
    model.completion = Some(0);
    demo_tour::make_room(model);
    give_back(model);
    model.editor.insert(c.encode_utf8(&mut [0; 4]));
}

/// Text that came as keys, faster than a person types.
pub fn burst(model: &mut Model, text: &str) {
    if model.burst.enter.take().is_some() {
        model.editor.insert("\n");
        model.burst.pasting = true;
    } else if model
        .burst
        .last_text
        .is_none_or(|last| model.now > last + ENTER_HELD)
    {
        model.burst.pasting = false;
    }
    model.burst.pasting |= text.contains('\n');
    paste(model, text);
    model.burst.last_text = Some(model.now);
}

/// Pasted text goes into a text field and is never sent, and never answers.
pub fn paste(model: &mut Model, text: &str) {
    if model.ask().is_some_and(|ask| ask.armed) && dialog::keys::paste(model, text) {
        return;
    }
    if model.layer.is_some() {
        model.with_layer(|layer, cx| {
            layer.paste(text, cx);
            Handled::Consumed
        });
        return;
    }
    model.focus = Focus::Message;
    model.history.at = None;
    model.completion = Some(0);
    demo_tour::make_room(model);
    give_back(model);
    model.editor.insert(text);
}

/// The digits that pointed to the offer of a first run were the beginning of a message.
fn give_back(model: &mut Model) {
    if let Some(typed) = model.first_run.give_back() {
        model.editor.insert(&typed);
    }
}

/// Enter: a command is run, a prompt is sent or queued, and with nothing typed
/// a paused queue goes on.
pub fn send(model: &mut Model, effects: &mut Vec<Effect>) {
    model.focus = Focus::Message;
    if model.editor.is_blank() && branches::keeps_as_it_was(model) {
        return;
    }
    if model.editor.is_blank() {
        model.queue.paused = false;
        return send_queued(model, effects);
    }
    let command = model.editor.text();
    if command.trim_start().starts_with('/') {
        return commands::run_typed(model, command.trim(), effects);
    }
    let text = model.editor.take();
    remember(model, &text);
    model.queue.paused = false;
    let prompt = branches::edited(model, text);
    if model.is_busy() {
        model.queue.prompts.push_back(prompt.text);
    } else {
        submit(model, prompt, effects);
    }
}

/// Sends the next queued prompt, where none is under way.
pub fn send_queued(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.is_busy() || model.queue.paused {
        return;
    }
    if let Some(text) = model.queue.prompts.pop_front() {
        submit(model, Prompt::new(text), effects);
    }
}

/// Another conversation was asked for: a turn that ends meanwhile must send
/// nothing into it.
pub fn hold_queue(model: &mut Model) {
    model.queue.paused |= !model.queue.prompts.is_empty();
}

/// Puts the queue back into the message, before what stands there: it was meant
/// for the conversation that is left.
pub fn unqueue(model: &mut Model) {
    let mut prompts: Vec<String> = model.queue.prompts.drain(..).collect();
    model.queue.paused = false;
    if prompts.is_empty() {
        return;
    }
    if !model.editor.is_blank() {
        prompts.push(model.editor.text());
    }
    model.editor.set(&prompts.join("\n"));
    model.notify(Notice::info("What was queued is back in the message."));
}

/// The prompt is on screen before anything is sent anywhere (S5.1).
pub fn submit(model: &mut Model, prompt: Prompt, effects: &mut Vec<Effect>) {
    let turn = TurnId(model.turns.mint());
    let started = TurnEvent::Started {
        prompt: prompt.clone(),
        model: model.engine.model_name().to_owned(),
    };
    engine::apply(model, Event::Turn(turn, started), effects);
    model.chat.follow = true;
    let command = if prompt.text == COMPACT {
        Command::Compact { turn }
    } else {
        Command::Submit { turn, prompt }
    };
    effects.push(Effect::Send(command));
}

/// Has the older part of the context summarised.
pub fn compact(model: &mut Model, effects: &mut Vec<Effect>) {
    if branches::is_busy(model) {
        return;
    }
    submit(model, Prompt::new(COMPACT), effects);
}

/// Goes on with an answer that the limit of tokens cut.
pub fn go_on(model: &mut Model, effects: &mut Vec<Effect>) {
    if branches::is_busy(model) {
        return;
    }
    if !model.cut {
        return model.notify(Notice::info("The last answer was not cut."));
    }
    submit(model, Prompt::continuing(), effects);
}

pub fn remember(model: &mut Model, text: &str) {
    model.history.at = None;
    let prompts = &mut model.history.prompts;
    if prompts.last().is_some_and(|last| last == text) {
        return;
    }
    prompts.push(text.to_owned());
    if prompts.len() > HISTORY_MAX {
        prompts.remove(0);
    }
    draft::remembered(model);
}

/// An editing key. Up and Down leave the text at its edges for what was queued
/// or typed before.
pub fn edit(model: &mut Model, edit: Edit) {
    demo_tour::disown(model);
    give_back(model);
    model.completion = Some(0);
    let blank = model.editor.is_empty();
    if edit == Edit::Up
        && blank
        && model.history.at.is_none()
        && let Some(queued) = model.queue.prompts.pop_back()
    {
        return model.editor.set(&queued);
    }
    if model.editor.edit(edit) {
        if !matches!(edit, Edit::Up | Edit::Down) && model.editor.is_empty() {
            model.history.at = None;
        }
        return;
    }
    match edit {
        Edit::Up => earlier(model),
        Edit::Down => later(model),
        _ => {}
    }
}

fn earlier(model: &mut Model) {
    let count = model.history.prompts.len();
    let at = model.history.at.unwrap_or(count);
    if at == 0 {
        return;
    }
    if model.history.at.is_none() {
        model.history.aside = model.editor.text();
    }
    recall(model, at - 1);
}

fn later(model: &mut Model) {
    let Some(at) = model.history.at else { return };
    if at + 1 < model.history.prompts.len() {
        return recall(model, at + 1);
    }
    model.history.at = None;
    let aside = std::mem::take(&mut model.history.aside);
    model.editor.set(&aside);
}

fn recall(model: &mut Model, at: usize) {
    let text = model.history.prompts[at].clone();
    model.editor.set(&text);
    model.history.at = Some(at);
    // A recalled command is not completed: Up and Down go on through the history.
    model.completion = None;
}
