//! Lets the model summarize the open note, or what the notes say about a topic.

use super::agent::{
    Agent, AgentContext, AgentStep, FinishedAgent, Preparation, names_in, no_open_note,
};
use crate::domain::{AgentResult, SavedMessage, SummarySource};
use crate::notes::NoteIntent;
use std::sync::Arc;

pub(super) struct SummarizeNotes;

impl Agent for SummarizeNotes {
    fn try_handle(
        &self,
        message: &str,
        _history: &[SavedMessage],
        context: &AgentContext,
    ) -> Option<Preparation> {
        let open_note = context.open_note.as_ref();
        let source = match NoteIntent::of_prompt(message)? {
            NoteIntent::SummarizeTopic { topic } => Some(SummarySource::Topic(topic)),
            NoteIntent::SummarizeOpenNote => {
                open_note.map(|note| SummarySource::Note(note.path.display().to_string()))
            }
            _ => return None,
        };
        let (notes, request) = (Arc::clone(&context.notes), context.request());
        Some(Box::pin(async move {
            let task = notes
                .prepare_summary(request, source.ok_or_else(no_open_note)?)
                .await?;
            let result = AgentResult::NoteSummarized {
                sources: names_in(&task.vault, &task.sources),
                title: task.title,
                remarks: task.remarks,
            };
            Ok(AgentStep::AskModel {
                untrusted_text: task.prompt.clone(),
                prompt: task.prompt,
                finish: Box::new(move |_| {
                    Box::pin(async move {
                        Ok(FinishedAgent {
                            result,
                            created: None,
                        })
                    })
                }),
            })
        }))
    }
}
