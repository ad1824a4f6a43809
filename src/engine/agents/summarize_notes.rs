//! Lets the model summarize the open note, a named note, or the notes about a topic.

use super::agent::{
    Agent, AgentContext, AgentStep, PreparedStep, call_instead_of_text, names_in, no_open_note,
};
use crate::domain::{Advice, AgentResult, Notice, OpenNote, SavedMessage, SummarySource, Toolset};
use crate::engine::turn::ModelAnswer;
use crate::notes::NoteIntent;
use crate::ports::{NoteRequest, NoteService};
use futures::future::ready;
use std::sync::Arc;

pub(super) struct SummarizeNotes;

impl Agent for SummarizeNotes {
    fn try_handle(
        &self,
        message: &str,
        _history: &[SavedMessage],
        context: &AgentContext,
    ) -> Option<PreparedStep> {
        let (notes, request) = (Arc::clone(&context.notes), context.request());
        let offered = Arc::clone(&context.offered);
        let open_note = context.open_note.clone();
        let (source, style) = match NoteIntent::of_prompt(message)? {
            NoteIntent::SummarizeTopic { topic, style } => {
                (Some(SummarySource::Topic(topic)), style)
            }
            NoteIntent::SummarizeFile { name, style } => {
                return Some(Box::pin(summarize_file(
                    notes, request, offered, name, style,
                )));
            }
            NoteIntent::SummarizeOpenNote { style } => {
                let path = open_note.as_ref().map(|note| note.path.display());
                (
                    path.map(|path| SummarySource::Note(path.to_string())),
                    style,
                )
            }
            _ => return None,
        };
        let open_note = open_note.filter(|_| matches!(source, Some(SummarySource::Note(_))));
        Some(Box::pin(async move {
            let source = source.ok_or_else(no_open_note)?;
            let step = summarize(notes, request, offered, source, style).await;
            step.map_err(|notice| {
                let unreadable = open_note.map(|note| unreadable(&note, &notice));
                unreadable.unwrap_or(notice)
            })
        }))
    }
}

/// If there is no such file, or the vault cannot be read, the prompt is passed on, because the file
/// may be elsewhere. If the file cannot be read as a note, the request fails.
async fn summarize_file(
    notes: Arc<dyn NoteService>,
    request: NoteRequest,
    offered: Arc<Toolset>,
    name: String,
    style: String,
) -> Result<AgentStep, Notice> {
    match notes.find_file(request.clone(), name.clone()).await {
        Ok(Some(note)) => {
            let source = SummarySource::Note(note);
            summarize(notes, request, offered, source, style).await
        }
        Ok(None) => {
            let missing = Notice::info(format!("No note is called {name}."));
            Ok(AgentStep::PassOn(missing))
        }
        Err(notice) => Ok(AgentStep::PassOn(notice)),
    }
}

async fn summarize(
    notes: Arc<dyn NoteService>,
    request: NoteRequest,
    offered: Arc<Toolset>,
    source: SummarySource,
    style: String,
) -> Result<AgentStep, Notice> {
    let task = notes.prepare_summary(request, source, style).await?;
    let result = AgentResult::NoteSummarized {
        sources: names_in(&task.vault, &task.sources),
        title: task.title,
        remarks: task.remarks,
    };
    Ok(AgentStep::AskModel {
        prompt: task.prompt,
        finish: Box::new(move |answer| {
            let failure = "There is no summary.";
            Box::pin(ready(
                match call_instead_of_text(&answer, &offered, failure) {
                    Some(unused) => Err(unused),
                    None => Ok(add_remark(result, &answer)),
                },
            ))
        }),
    })
}

fn add_remark(mut result: AgentResult, answer: &ModelAnswer) -> AgentResult {
    if let Some(remarks) = result.remarks_mut().filter(|_| answer.is_truncated) {
        remarks.push("The summary is incomplete.".to_owned());
    }
    result
}

/// The open note may have been moved or deleted since it was opened.
fn unreadable(note: &OpenNote, notice: &Notice) -> Notice {
    let name = &note.name;
    Notice::warning(format!("The open note {name} could not be summarized."))
        .with_reason(notice.summary())
        .with_advice(Advice::OpenNote)
}
