//! Creates a note: the model writes it, and the answer is saved as a new file.

use super::agent::{
    AgentContext, AgentStep, PreparedStep, UnfinishedNote, UnusedAnswer, call_instead_of_text,
};
use crate::domain::{Advice, AgentResult, CreatedNote, Notice, WrittenNote};
use crate::engine::turn::ModelAnswer;
use crate::ports::{NoteAnswer, NoteRequest, NoteService};
use futures::future::{BoxFuture, ready};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Network drives may be slow.
const SAVE_TIME_MAX: Duration = Duration::from_secs(30);

const NOT_SAVED: &str = "The note was not saved.";

pub(super) fn create_note(context: &AgentContext, topic: String, style: String) -> PreparedStep {
    let notes = Arc::clone(&context.notes);
    let (before, after) = (context.request(), context.request());
    let replaces = context.replaced_note.clone();
    let offered = Arc::clone(&context.offered);
    Box::pin(async move {
        let prompt = notes.prepare_note(before, topic.clone(), style).await;
        let prompt = prompt.map_err(not_saved)?;
        Ok(AgentStep::AskModel {
            prompt,
            finish: Box::new(move |answer| {
                if let Some(unused) = call_instead_of_text(&answer, &offered, NOT_SAVED) {
                    return Box::pin(ready(Err(unused)));
                }
                Box::pin(finish(notes, after, topic, replaces, answer))
            }),
        })
    })
}

/// Completes a note whose answer was truncated: appends the continuation of that answer.
pub(super) fn complete_note(context: &AgentContext, note: UnfinishedNote) -> PreparedStep {
    let (notes, request) = (Arc::clone(&context.notes), context.request());
    let offered = Arc::clone(&context.offered);
    let finish = move |mut answer: ModelAnswer| -> BoxFuture<'static, _> {
        answer.text.insert_str(0, &note.text);
        if let Some(unused) = call_instead_of_text(&answer, &offered, NOT_SAVED) {
            return Box::pin(ready(Err(unused)));
        }
        Box::pin(finish(notes, request, note.topic, None, answer))
    };
    Box::pin(ready(Ok(AgentStep::UseAnswer(Box::new(finish)))))
}

async fn finish(
    notes: Arc<dyn NoteService>,
    request: NoteRequest,
    topic: String,
    replaces: Option<WrittenNote>,
    answer: ModelAnswer,
) -> Result<AgentResult, UnusedAnswer> {
    if answer.is_truncated {
        let notice = Notice::warning("The note is incomplete and was not saved.");
        return Err(UnusedAnswer {
            notice: notice.with_advice(Advice::ContinueNote),
            unfinished_note: Some(UnfinishedNote {
                topic,
                text: answer.text,
            }),
        });
    }
    let answer = NoteAnswer {
        topic,
        text: answer.text,
        replaces,
    };
    let created = save(notes, request, answer).await?;
    Ok(AgentResult::NoteCreated {
        note: created.written.note,
        title: created.title,
        path: created.path.display().to_string(),
        sha256: Some(created.written.sha256),
    })
}

async fn save(
    notes: Arc<dyn NoteService>,
    request: NoteRequest,
    answer: NoteAnswer,
) -> Result<CreatedNote, Notice> {
    let (sender, receiver) = oneshot::channel();
    let undo_request = request.clone();
    tokio::spawn(async move {
        let saved = notes.save(request, answer).await;
        // If the turn was stopped or the time limit passed meanwhile, the note must not remain.
        if let Err(Ok(unwanted)) = sender.send(saved)
            && let Err(notice) = notes.discard(undo_request, unwanted).await
        {
            tracing::warn!("{}", notice.summary());
        }
    });
    let saved = timeout(SAVE_TIME_MAX, receiver).await;
    let too_slow = |_| Notice::failure("Writing the note took too long, so it was not saved.");
    let failed = |_| Notice::failure(NOT_SAVED);
    let saved = saved.map_err(too_slow)?.map_err(failed)?;
    saved.map_err(not_saved)
}

fn not_saved(reason: Notice) -> Notice {
    Notice::failure(NOT_SAVED).with_reason(reason.summary())
}
