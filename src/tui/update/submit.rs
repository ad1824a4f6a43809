//! Submits prompts, or queues them during a turn.

use crate::commands::CommandCx;
use crate::domain::model::CONFIG_EXAMPLE;
use crate::domain::{Advice, Notice, Prompt, TurnEvent, TurnId};
use crate::protocol::{Command, Event};
use crate::tui::composer::queue::QueuedPrompt;
use crate::tui::layer::UiRequest;
use crate::tui::models;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::turns;

/// The prefix of a queued prompt that bypasses the note agents.
pub const CHAT_COMMAND: &str = "/chat ";

/// Queues a prompt until a model is selected, and opens the list that offers models.
pub fn keep_until_model(model: &mut UiModel, prompt: Prompt) {
    enqueue(model, prompt);
    model.reopen_first_run();
    let mut notice =
        Notice::warning("No active model is configured.").with_advice(Advice::SelectModel);
    if !model.offers_first_run() {
        model.with_context(|cx| models::layer::open(None, cx));
        let file = model.config_file();
        notice = notice.with_advice(format!("Or put this into {file}: {CONFIG_EXAMPLE}"));
    }
    model.first_run.ignore_choices(model.now);
    model.notices.show_about_message(notice, model.now);
}

/// Whether the user has to choose a model before the prompt can be sent.
pub fn needs_first_model(model: &UiModel, prompt: &Prompt) -> bool {
    let message = prompt.text_for_agents();
    model.needs_first_model() && !message.is_some_and(model.needs_no_model.0)
}

/// Sends the next queued prompt, unless it has to wait ([`UiModel::is_busy`]), no model is selected
/// yet or the queue is paused.
pub fn send_queued(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let next = model.composer.queue.prompts().next();
    let next = next.map(|queued| {
        queued_prompt(queued.text.clone()).with_attachments(queued.attachments.clone())
    });
    if model.is_busy() || next.is_none_or(|next| needs_first_model(model, &next)) {
        return;
    }
    if let Some(queued) = model.composer.queue.take_next() {
        let prompt = queued_prompt(queued.text).with_attachments(queued.attachments);
        // The user may be reading further up, so the chat stays where it is.
        start_turn(model, prompt, effects);
    }
}

/// Adds a prompt to the queue.
pub fn enqueue(model: &mut UiModel, prompt: Prompt) {
    model.composer.queue.push(QueuedPrompt {
        attachments: prompt.attachments,
        ..QueuedPrompt::new(prompt.text)
    });
}

/// `/chat` is the only command that can be queued.
fn queued_prompt(text: String) -> Prompt {
    match text.strip_prefix(CHAT_COMMAND) {
        Some(prompt) => Prompt::new(prompt).bypassing_agents(),
        None => Prompt::new(text),
    }
}

/// Sends or queues a prompt that bypasses the note agents.
pub fn submit_bypassing_agents(model: &mut UiModel, text: &str, effects: &mut Vec<UiEffect>) {
    let command = format!("{CHAT_COMMAND}{text}");
    remember(model, &command);
    model.composer.queue.is_paused = false;
    if model.needs_first_model() {
        keep_until_model(model, Prompt::new(command));
    } else if model.is_busy() {
        enqueue(model, Prompt::new(command));
    } else {
        submit(model, queued_prompt(command), effects);
    }
}

/// Starts a turn that the user asked for, and scrolls to it.
pub fn submit(model: &mut UiModel, prompt: Prompt, effects: &mut Vec<UiEffect>) {
    start_turn(model, prompt, effects);
    model.chat.viewport.follows_end = true;
}

/// Starts a turn: shows the prompt at once, and requests that it be sent.
fn start_turn(model: &mut UiModel, prompt: Prompt, effects: &mut Vec<UiEffect>) {
    model.notices.clear_about_message();
    let turn = TurnId(model.ids.turns.next_id());
    let started = TurnEvent::Started {
        prompt: prompt.clone(),
        model: model.engine.model_name().to_owned(),
    };
    let event = Event::Turn(turn, started);
    model.with_layer(|layer, cx| layer.handle_event(&event, cx));
    if let Event::Turn(turn, started) = &event {
        turns::apply_event(model, *turn, started, effects);
    }
    // The open layer may have made requests, which must run first.
    let command = Command::Submit { turn, prompt };
    model.requests.push_back(UiRequest::Send(command));
}

/// Requests a summary of the older part of the context. The chat shows the turn only once it has
/// started, because there may be nothing to summarize.
pub fn compact(model: &mut UiModel) {
    let turn = TurnId(model.ids.turns.next_id());
    model.conversation.requested_summary = Some(turn);
    let command = Command::Compact { turn };
    model.requests.push_back(UiRequest::Send(command));
}

pub fn remember(model: &mut UiModel, prompt: &str) {
    model
        .composer
        .remember(prompt, model.conversation.is_private);
}

/// Shows a notice if a new prompt has to wait ([`UiModel::is_busy`]). Returns whether that is so.
pub fn notify_if_busy(model: &mut UiModel) -> bool {
    model.with_context(|cx| cx.has_to_wait())
}
