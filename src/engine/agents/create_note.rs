//! Creates a note: the model writes it, and the answer is saved as a new file.

use super::agent::{Agent, AgentContext, AgentStep, FinishedAgent, Preparation};
use crate::domain::{AgentResult, CreatedNote, Notice, SavedMessage};
use crate::engine::turn::ModelAnswer;
use crate::notes::NoteIntent;
use crate::ports::{NoteRequest, NoteService};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Time limit for writing the file. Network drives may be slow.
const SAVE_TIME_MAX: Duration = Duration::from_secs(30);

pub(super) struct CreateNote;

impl Agent for CreateNote {
    fn try_handle(
        &self,
        message: &str,
        _history: &[SavedMessage],
        context: &AgentContext,
    ) -> Option<Preparation> {
        let Some(NoteIntent::Create { topic }) = NoteIntent::of_prompt(message) else {
            return None;
        };
        let notes = Arc::clone(&context.notes);
        let (before, after) = (context.request(), context.request());
        Some(Box::pin(async move {
            let prompt = notes.prepare_note(before, topic.clone()).await?;
            Ok(AgentStep::AskModel {
                prompt,
                untrusted_text: String::new(),
                finish: Box::new(|answer| Box::pin(save(notes, after, topic, answer))),
            })
        }))
    }
}

async fn save(
    notes: Arc<dyn NoteService>,
    request: NoteRequest,
    topic: String,
    answer: ModelAnswer,
) -> Result<FinishedAgent, Notice> {
    if answer.is_truncated {
        return Err(Notice::warning("The note is incomplete and was not saved."));
    }
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        let saved = notes.save(request, topic, answer.text).await;
        // If the turn was stopped in the meantime, the note must not remain.
        if let Err(Ok(unwanted)) = sender.send(saved)
            && let Err(notice) = notes.remove(unwanted).await
        {
            tracing::warn!("{}", notice.summary());
        }
    });
    let saved = timeout(SAVE_TIME_MAX, receiver).await;
    let too_slow = |_| Notice::failure("Writing the note took too long, so it was not saved.");
    let not_saved = |_| Notice::failure("The note was not saved.");
    let created: CreatedNote = saved.map_err(too_slow)?.map_err(not_saved)??;
    let name = created.path.file_name().unwrap_or_default();
    Ok(FinishedAgent {
        result: AgentResult::NoteCreated {
            note: name.to_string_lossy().into_owned(),
            title: created.title.clone(),
        },
        created: Some(created),
    })
}
