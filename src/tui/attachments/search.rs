//! The search for files and resources while a path is typed. The engine searches for files; the
//! list shows its last answer, followed by server resources.

use crate::domain::QueryId;
use crate::domain::attachment::{FoundFile, FoundFiles, shown_path};
use crate::text::Clean;
use crate::tui::attachments::mention::TypedPath;
use crate::tui::composer::completion::{CompletionList, CompletionMatch, CompletionRow};
use crate::tui::composer::state::CompletionState;
use crate::tui::server_content::mention::MentionedResource;
use std::sync::Arc;

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub enum FoundMention<'a> {
    File(&'a FoundFile),
    Resource(&'a MentionedResource),
}

#[derive(Debug, Default)]
pub struct FileSearch {
    /// The last search.
    requested: Option<(QueryId, String)>,
    /// The latest answer, with the fragment that was searched for.
    found: Option<(String, Arc<FoundFiles>)>,
    /// The resources that match the fragment of the last search.
    resources: Vec<MentionedResource>,
}

impl FileSearch {
    /// Whether this fragment has to be searched for.
    pub fn must_search(&self, fragment: &str) -> bool {
        let requested = self.requested.as_ref();
        requested.is_none_or(|(_, requested)| requested != fragment)
    }

    pub fn record_request(
        &mut self,
        query: QueryId,
        fragment: &str,
        resources: Vec<MentionedResource>,
    ) {
        self.resources = resources;
        self.requested = Some((query, fragment.to_owned()));
    }

    /// Clears everything once no path is being typed.
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

    /// Whether the answer for this fragment has not arrived yet.
    pub fn is_outdated(&self, fragment: &str) -> bool {
        let found = self.found.as_ref();
        found.is_none_or(|(answered, _)| answered != fragment)
    }

    /// The file or resource in this row.
    pub fn found(&self, row: usize) -> Option<FoundMention<'_>> {
        let files = &self.found.as_ref()?.1.files;
        match row.checked_sub(files.len()) {
            None => files.get(row).map(FoundMention::File),
            Some(row) => self.resources.get(row).map(FoundMention::Resource),
        }
    }

    /// The list of files and resources; `None` if it is empty or was closed.
    pub fn completions(
        &self,
        typed: &TypedPath,
        selection: &CompletionState,
    ) -> Option<CompletionList> {
        let (_, found) = self.found.as_ref()?;
        let last = (found.files.len() + self.resources.len()).checked_sub(1)?;
        let selected = match selection {
            CompletionState::Closed => return None,
            CompletionState::Selected(row) => Some((*row).min(last)),
            // Select nothing in an argument, so that Enter runs the command as typed.
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
        let resources = self.resources.iter().map(|resource| CompletionRow {
            message: resource.full_uri(),
            label: Clean::name(&resource.full_uri()),
            description: resource.description.clone(),
            usage: Clean::from_static(""),
            quality: CompletionMatch::Inside,
            takes_more: false,
        });
        Some(CompletionList {
            title: match (found.is_partial, self.resources.is_empty()) {
                (true, _) => "Files (not all were searched)",
                (false, true) => "Files",
                (false, false) => "Files and resources",
            },
            rows: rows.chain(resources).collect(),
            selected,
            confirm_hint: "attach",
        })
    }
}
