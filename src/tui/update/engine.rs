//! Applies engine events to the model.

use crate::domain::{Notice, Session};
use crate::protocol::Event;
use crate::tui::chat::state::Chat;
use crate::tui::layer::Layer;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::servers::commands as servers;
use crate::tui::update::{branches, probe, submit, turns};

pub fn apply(model: &mut Model, event: Event, effects: &mut Vec<Effect>) {
    model.with_layer(|layer, cx| layer.event(&event, cx));
    model.with_dialogs(|dialogs, cx| dialogs.event(&event, cx));
    let Some(event) = model.engine.apply(event) else {
        return;
    };
    match event {
        Event::Turn(id, event) if turns::take(model, id, &event, effects) => {
            submit::send_queued(model, effects);
        }
        Event::SessionOpened(session) => opened(model, &session),
        Event::SessionSaved(session) => {
            model.conversation.session = Some(session);
            if let Some(guide) = &mut model.guide {
                guide.saved = true;
            }
        }
        Event::SessionDeleted(session) => {
            model.notify(Notice::info(format!("Deleted {session}.")));
        }
        Event::SessionRenamed(title) => {
            model.notify(Notice::info("Renamed."));
            model.conversation.title = title;
        }
        Event::BranchesListed(list) => branches::listed(model, list),
        Event::PrivateChanged(private) => {
            model.conversation.private = private;
            model.composer.private_changed(private);
        }
        Event::PromptOffered(prompt) => branches::offered(model, &prompt),
        Event::CatalogChanged(catalog) => {
            let before = std::mem::replace(&mut model.engine.catalog, catalog);
            let after = &model.engine.catalog;
            model.first_run.follow(&before, after, model.now);
        }
        Event::ProbeChanged(state) => probe::changed(model, state, effects),
        Event::ServersListed(servers) => model.sidebar.replace(servers),
        Event::ServerChanged(server) => {
            model.with_servers(|sidebar, cx| servers::changed(sidebar, server, cx));
        }
        Event::TrustChanged(list) => {
            servers::trust_changed(&mut model.sidebar, &list);
            model.engine.trusted = list;
        }
        Event::HistoryLoaded { prompts, draft } => history(model, &prompts, draft),
        Event::Noticed(notice) => model.notify(notice),
        Event::Mentioned(notice) => model.notices.wait(notice),
        Event::InterruptTaken => model.interrupt.sent = None,
        Event::ShutDown => effects.push(Effect::Quit),
        // Layers, dialogs and the engine state have already handled the rest.
        _ => {}
    }
}

fn opened(model: &mut Model, session: &Session) {
    branches::keeps_as_it_was(model);
    if model.composer.unqueue() {
        model.notify(Notice::info(
            "Moved the queued prompts back to the message.",
        ));
    }
    model.chat = Chat::of_session(session, model.chat.raw);
    model.conversation.open(session);
    model.interrupt.is_stopping = false;
    model.engine.trace = None;
    model.layer = None;
}

fn history(model: &mut Model, prompts: &[String], draft: Option<String>) {
    model.composer.load_history(prompts);
    let draft = draft.filter(|draft| !draft.trim().is_empty());
    let Some(draft) = draft else { return };
    let guide = model.guide.as_ref();
    let is_typed_ahead = guide.is_some_and(|guide| guide.owns(&model.composer.editor));
    if model.composer.editor.is_empty() || is_typed_ahead {
        model.composer.restore(&draft);
        model.notify(Notice::info("Restored your unsent message."));
    } else {
        submit::remember(model, &draft);
        let words = "Press Up for your unsent message from last time.";
        model.notify(Notice::info(words));
    }
}
