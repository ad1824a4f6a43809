//! Lets the model summarize the open note, a named note, or the notes about a topic.

use super::agent::{
    AgentContext, AgentStep, PreparedStep, call_instead_of_text, names_in, no_open_note,
};
use crate::domain::{Advice, AgentResult, Notice, OpenNote, SummarySource};
use crate::engine::turn::ModelAnswer;
use futures::future::ready;

pub(super) fn summarize_topic(context: AgentContext, topic: String, style: String) -> PreparedStep {
    Box::pin(summarize(context, SummarySource::Topic(topic), style))
}

pub(super) fn summarize_open_note(mut context: AgentContext, style: String) -> PreparedStep {
    Box::pin(async move {
        let note = context.open_note.take().ok_or_else(no_open_note)?;
        let source = SummarySource::Note(note.path.display().to_string());
        let step = summarize(context, source, style).await;
        step.map_err(|notice| unreadable(&note, &notice))
    })
}

/// If there is no such file, or the vault cannot be read, the prompt is passed on, because the file
/// may be elsewhere. If the file cannot be read as a note, the request fails.
pub(super) fn summarize_file(context: AgentContext, name: String) -> PreparedStep {
    Box::pin(async move {
        match context
            .notes
            .find_file(context.request(), name.clone())
            .await
        {
            Ok(Some(note)) => summarize(context, SummarySource::Note(note), String::new()).await,
            Ok(None) => {
                let missing = Notice::info(format!("No note is called {name}."));
                Ok(AgentStep::PassOn(missing))
            }
            Err(notice) => Ok(AgentStep::PassOn(notice)),
        }
    })
}

async fn summarize(
    context: AgentContext,
    source: SummarySource,
    style: String,
) -> Result<AgentStep, Notice> {
    let (request, offered) = (context.request(), context.offered);
    let task = context
        .notes
        .prepare_summary(request, source, style)
        .await?;
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
