//! Reads files that the user attaches, and finds files while a path is typed. Both run in the
//! background.

use super::cx::EngineCx;
use super::job_set::JOB_PANICKED;
use super::jobs::JobResult;
use crate::attachments::{
    AttachError, ClipboardEnv, FileFinder, look_up_mentioned, read_clipboard, read_path,
};
use crate::domain::attachment::{AttachmentSource, FoundFiles, ReadAttachment};
use crate::domain::{ImageSupport, ModelConfig, QueryId};
use crate::protocol::Event;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// A message waits at most this long for the search for files that it mentions.
const MENTIONED_TIME_MAX: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct AttachmentJobs {
    finder: Arc<FileFinder>,
    is_finding: bool,
    /// The latest search, if it has to wait for the running one.
    waiting: Option<(QueryId, String)>,
}

impl Default for AttachmentJobs {
    fn default() -> Self {
        let root = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self {
            finder: Arc::new(FileFinder::new(root)),
            is_finding: false,
            waiting: None,
        }
    }
}

impl AttachmentJobs {
    pub(super) fn read(&self, query: QueryId, source: AttachmentSource, cx: &mut EngineCx) {
        let finder = Arc::clone(&self.finder);
        let home = cx.home.root().to_owned();
        let failed = AttachError::Unreadable {
            name: "the file".to_owned(),
            why: JOB_PANICKED.to_owned(),
        };
        let result = Err(failed.notice());
        let if_panicked = JobResult::Events(vec![Event::AttachmentRead { query, result }]);
        cx.jobs.spawn_or(if_panicked, async move {
            let result = read_source(source, finder, &home).await;
            let result = result.map_err(|error| error.notice());
            JobResult::Events(vec![Event::AttachmentRead { query, result }])
        });
    }

    /// Finds out which of these paths are files. A folder on a slow network delays the message only
    /// briefly: none of the paths is then reported, neither as a file nor as missing.
    pub(super) fn find_mentioned(&self, query: QueryId, paths: Vec<String>, cx: &mut EngineCx) {
        let finder = Arc::clone(&self.finder);
        cx.jobs.spawn(async move {
            let find = move || look_up_mentioned(paths, finder.root());
            let found = timeout(MENTIONED_TIME_MAX, tokio::task::spawn_blocking(find)).await;
            let found = found.ok().and_then(Result::ok).unwrap_or_default();
            JobResult::Events(vec![Event::MentionedFound {
                query,
                files: found.files,
                missing: found.missing,
            }])
        });
    }

    /// Searches once no other search is running. A later search replaces one that waits.
    pub(super) fn find(&mut self, query: QueryId, fragment: String, cx: &mut EngineCx) {
        if self.is_finding {
            self.waiting = Some((query, fragment));
            return;
        }
        self.is_finding = true;
        let finder = Arc::clone(&self.finder);
        let if_panicked = JobResult::FilesFound(query, FoundFiles::default());
        cx.jobs.spawn_blocking_or(if_panicked, move || {
            JobResult::FilesFound(query, finder.find(&fragment))
        });
    }

    pub(super) fn handle_found(&mut self, query: QueryId, found: FoundFiles, cx: &mut EngineCx) {
        let found = Arc::new(found);
        cx.outbox.push(Event::FilesFound { query, found });
        self.is_finding = false;
        if let Some((query, fragment)) = self.waiting.take() {
            self.find(query, fragment, cx);
        }
    }
}

async fn read_source(
    source: AttachmentSource,
    finder: Arc<FileFinder>,
    home: &Path,
) -> Result<ReadAttachment, AttachError> {
    let name = match source {
        AttachmentSource::Clipboard => return read_clipboard(&ClipboardEnv::from_process()).await,
        // Read by `server_content`, which has access to the servers.
        AttachmentSource::Resource { uri, .. } => return Err(AttachError::NotFound(uri)),
        AttachmentSource::Path(name) | AttachmentSource::Dropped(name) => name,
    };
    let home = home.to_owned();
    let unreadable = AttachError::Unreadable {
        name: name.clone(),
        why: "reading it failed".to_owned(),
    };
    let read = move || read_path(&name, finder.root(), &home);
    let result = tokio::task::spawn_blocking(read).await;
    result.unwrap_or(Err(unreadable))
}

/// Reports whether the model takes images. Asks its server if necessary.
pub(super) fn check_image_support(model: &Arc<ModelConfig>, cx: &mut EngineCx) {
    let reference = model.reference();
    let checked = move |support| Event::ImageSupportChecked {
        model: reference.clone(),
        support,
    };
    if model.vision.is_some() || !model.provider.reports_capabilities() {
        cx.outbox.push(checked(ImageSupport::of(model, None)));
        return;
    }
    let (provider, model) = (cx.provider.clone(), Arc::clone(model));
    let if_panicked = JobResult::Events(vec![checked(ImageSupport::of(&model, None))]);
    cx.jobs.spawn_or(if_panicked, async move {
        let model_info = provider.model_info(&model).await.ok();
        let support = ImageSupport::of(&model, model_info.as_ref());
        JobResult::Events(vec![checked(support)])
    });
}
