//! The search for files while a path is typed. The engine searches; the list shows its last
//! answer.

use crate::domain::QueryId;
use crate::domain::attachment::{FoundFile, FoundFiles, shown_path};
use crate::text::Clean;
use crate::tui::attachments::mention::TypedPath;
use crate::tui::composer::completion::{CompletionList, CompletionMatch, CompletionRow};
use crate::tui::composer::state::CompletionState;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct FileSearch {
    /// The last search.
    requested: Option<(QueryId, String)>,
    /// The answer to the last search that has one.
    found: Option<(String, Arc<FoundFiles>)>,
}

impl FileSearch {
    /// Whether this fragment has to be searched for.
    pub fn must_search(&self, fragment: &str) -> bool {
        let requested = self.requested.as_ref();
        requested.is_none_or(|(_, requested)| requested != fragment)
    }

    pub fn requested(&mut self, query: QueryId, fragment: &str) {
        self.requested = Some((query, fragment.to_owned()));
    }

    /// Forgets everything once no path is being typed.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn handle_found(&mut self, query: QueryId, found: Arc<FoundFiles>) {
        if let Some((requested, fragment)) = &self.requested
            && *requested == query
        {
            self.found = Some((fragment.clone(), found));
        }
    }

    /// Whether the list does not show the answer for this fragment yet.
    pub fn is_outdated(&self, fragment: &str) -> bool {
        let found = self.found.as_ref();
        found.is_none_or(|(answered, _)| answered != fragment)
    }

    /// The file in this row.
    pub fn file(&self, row: usize) -> Option<&FoundFile> {
        self.found.as_ref()?.1.files.get(row)
    }

    /// The list of files; `None` if there is none or it was closed.
    pub fn completions(
        &self,
        typed: &TypedPath,
        selection: &CompletionState,
    ) -> Option<CompletionList> {
        let (_, found) = self.found.as_ref()?;
        let last = found.files.len().checked_sub(1)?;
        let selected = match selection {
            CompletionState::Closed => return None,
            CompletionState::Selected(row) => Some((*row).min(last)),
            // An argument that is typed in full runs with Enter.
            CompletionState::Unmoved => (!typed.is_argument).then_some(0),
        };
        let rows = found.files.iter().map(|file| CompletionRow {
            message: file.path.clone(),
            label: Clean::single_line(&shown_path(&file.path)),
            description: Clean::from_static(if file.is_folder { "folder" } else { "" }),
            usage: Clean::from_static(""),
            quality: CompletionMatch::Inside,
            takes_more: file.is_folder,
        });
        Some(CompletionList {
            title: match found.is_partial {
                true => "Files (not all were searched)",
                false => "Files",
            },
            rows: rows.collect(),
            selected,
            confirm_hint: "attach",
        })
    }
}
