//! Finds notes and answers with a list, without asking the model.

use super::agent::{AgentContext, AgentStep, PreparedStep, name_in};
use crate::domain::{Advice, AgentResult, FoundNotes, Notice};
use std::fmt::Write;
use std::sync::Arc;

const NOTES_MAX: usize = 10;

pub(super) fn find_notes(context: &AgentContext, query: String) -> PreparedStep {
    let (notes, request) = (Arc::clone(&context.notes), context.request());
    Box::pin(async move {
        let found = notes.search(request, query.clone(), NOTES_MAX).await?;
        if found.notes.is_empty() {
            let notice = Notice::info(format!("No note matches \"{query}\"."));
            return Ok(AgentStep::NothingFound {
                notice: notice.with_advice(Advice::BypassNotes),
                remarks: found.remarks,
            });
        }
        let text = describe(&query, &found);
        let names = found
            .notes
            .iter()
            .map(|note| name_in(&found.vault, &note.path));
        Ok(AgentStep::Answer {
            result: AgentResult::NotesFound {
                query,
                notes: names.collect(),
                remarks: found.remarks.clone(),
            },
            text,
        })
    })
}

/// The answer, as Markdown.
fn describe(query: &str, found: &FoundNotes) -> String {
    let query = escape(query);
    let mut text = match found.notes.len() {
        1 => format!("1 note matches \"{query}\":\n"),
        count => format!("{count} notes match \"{query}\":\n"),
    };
    for (index, note) in found.notes.iter().enumerate() {
        let (title, path) = (
            escape(&note.title),
            escape(&name_in(&found.vault, &note.path)),
        );
        let number = index + 1;
        let _ = write!(text, "\n{number}. **{title}**  {path}  {:.2}", note.score);
        // Matches are not emphasized: the marks would break up a call in the snippet, and a copy of
        // it would no longer be recognized in the saved answer.
        let snippet = escape(&note.snippet);
        if !snippet.is_empty() {
            let _ = write!(text, "  \n   {snippet}");
        }
    }
    text
}

/// The text on one line, with its Markdown syntax escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '$' => {
                escaped.extend(['\\', c]);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::FoundNote;

    #[test]
    fn an_answer_lists_notes_and_shows_their_text_literally() {
        let note = FoundNote {
            path: "/v/old/a_b.md".into(),
            title: "My *note*".to_owned(),
            snippet: "the [router] is on".to_owned(),
            matches: std::iter::once(5..11).collect(),
            score: 0.871,
        };
        let found = FoundNotes {
            notes: vec![note],
            vault: "/v".into(),
            remarks: Vec::new(),
        };
        let expected = "1 note matches \"router\":\n\n1. **My \\*note\\***  old/a\\_b.md  0.87  \n   \
                        the \\[router\\] is on";
        assert_eq!(describe("router", &found), expected);
    }
}
