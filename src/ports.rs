//! Traits through which one adapter uses another without importing it.

use crate::domain::{
    BuiltInSettings, CreatedNote, FoundNotes, ModelConfig, NotePaths, NoteSummary, NotesSettings,
    Notice, OpenNote, SummarySource, SummaryTask, VaultStatus, WrittenNote,
};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::io::DuplexStream;

/// An MCP server inside this program. `mcp` connects to it as to any other server; `serve`
/// implements it.
pub trait LocalServer: Send + Sync {
    /// Starts a session and returns the client's end of the stream. Dropping that end closes the
    /// session.
    fn connect(&self) -> DuplexStream;

    /// Replaces the settings of the server's tools. Calls in progress keep the earlier ones.
    fn configure(&self, settings: &BuiltInSettings);
}

/// Asks a language model for one answer. `provider` implements it.
pub trait Completion: Send + Sync {
    /// Sends `prompt` alone and collects the answer. Dropping the future closes the connection.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the request, or stops in the middle.
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> BoxFuture<'static, Result<CompletedText, Notice>>;

    /// Whether the model's context has room for `prompt` alone.
    fn fits(&self, _model: ModelConfig, _prompt: String) -> BoxFuture<'static, bool> {
        Box::pin(std::future::ready(true))
    }
}

pub struct CompletionRequest {
    pub model: ModelConfig,
    pub prompt: String,
    /// Called with the number of characters received so far, thinking included.
    pub on_progress: Box<dyn Fn(usize) + Send + Sync>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedText {
    /// Without the model's thinking.
    pub text: String,
    /// The answer reached a token limit.
    pub is_cut_off: bool,
    /// The answer consists of tool calls, although no tools were offered.
    pub is_only_calls: bool,
}

/// Computes embeddings: vectors that are close to each other for texts of similar meaning.
/// `provider` implements it.
pub trait Embedder: Send + Sync {
    /// One vector for each text, in order. Dropping the future closes the connection.
    ///
    /// # Errors
    /// The server cannot be reached, does not have the model, or returns anything but embeddings.
    fn embed(
        &self,
        model: &ModelConfig,
        texts: Vec<String>,
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Notice>>;
}

/// Creates, finds and summarizes notes. `notes` implements it.
pub trait NoteService: Send + Sync {
    /// Has the model write a note about `topic`, and saves it in the vault.
    ///
    /// # Errors
    /// No model is configured, it gives no complete answer, or the vault cannot be written.
    fn create(
        &self,
        request: NoteRequest,
        topic: String,
    ) -> BoxFuture<'static, Result<CreatedNote, Notice>>;

    /// Finds at most `limit` notes.
    ///
    /// # Errors
    /// The vault or the index cannot be read, or the vault has no notes.
    fn search(
        &self,
        request: NoteRequest,
        query: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<FoundNotes, Notice>>;

    /// Has the model summarize one note, or the passages about a topic that match it best.
    ///
    /// # Errors
    /// As for [`Self::create`] and [`Self::search`], or there is nothing to summarize.
    fn summarize(
        &self,
        request: NoteRequest,
        source: SummarySource,
    ) -> BoxFuture<'static, Result<NoteSummary, Notice>>;

    /// The prompt for a note about `topic`, if the vault can be written. `style` describes how
    /// to write, in the user's words; it may be empty.
    ///
    /// # Errors
    /// The vault cannot be used.
    fn prepare_note(
        &self,
        request: NoteRequest,
        topic: String,
        style: String,
    ) -> BoxFuture<'static, Result<String, Notice>>;

    /// Saves the answer to the prompt of [`Self::prepare_note`] as a note.
    ///
    /// # Errors
    /// The vault cannot be written.
    fn save(
        &self,
        request: NoteRequest,
        answer: NoteAnswer,
    ) -> BoxFuture<'static, Result<CreatedNote, Notice>>;

    /// The notes whose paths match `fragment` best.
    ///
    /// # Errors
    /// The vault cannot be read.
    fn complete_path(
        &self,
        request: NoteRequest,
        fragment: String,
    ) -> BoxFuture<'static, Result<NotePaths, Notice>>;

    /// The path below the vault of the file that a name refers to: a path below the vault, or the
    /// file name of a note in any folder. `None` if there is no such file. A file that exists but
    /// cannot be read as a note is returned, too.
    ///
    /// # Errors
    /// The vault cannot be read.
    fn find_file(
        &self,
        request: NoteRequest,
        name: String,
    ) -> BoxFuture<'static, Result<Option<String>, Notice>>;

    /// The prompt for a summary, and its sources. `style` as for [`Self::prepare_note`].
    ///
    /// # Errors
    /// The vault or the note cannot be read, or there is nothing to summarize.
    fn prepare_summary(
        &self,
        request: NoteRequest,
        source: SummarySource,
        style: String,
    ) -> BoxFuture<'static, Result<SummaryTask, Notice>>;

    /// Finds a note by its path, or by its file name in any folder of the vault.
    ///
    /// # Errors
    /// There is no such note in the vault, several have this name, or it cannot be read.
    fn open(
        &self,
        request: NoteRequest,
        note: String,
    ) -> BoxFuture<'static, Result<OpenNote, Notice>>;

    /// Brings the index of the vault up to date.
    ///
    /// # Errors
    /// The vault or the index cannot be read, or the vault has no notes.
    fn refresh(&self, request: NoteRequest) -> BoxFuture<'static, Result<VaultStatus, Notice>>;

    /// The excerpts of notes that match a prompt best.
    ///
    /// # Errors
    /// As for [`Self::refresh`].
    fn excerpts(
        &self,
        request: NoteRequest,
        prompt: String,
    ) -> BoxFuture<'static, Result<NoteExcerpts, Notice>>;

    /// Removes a note that was created and has not changed since.
    ///
    /// # Errors
    /// The note has changed, or cannot be removed.
    fn remove(
        &self,
        request: NoteRequest,
        note: WrittenNote,
    ) -> BoxFuture<'static, Result<(), Notice>>;

    /// Reverts [`Self::save`]: removes the note, or restores the text that it replaced.
    ///
    /// # Errors
    /// As for [`Self::remove`].
    fn discard(
        &self,
        request: NoteRequest,
        note: CreatedNote,
    ) -> BoxFuture<'static, Result<(), Notice>>;
}

/// A model's answer that becomes a note.
#[derive(Debug)]
pub struct NoteAnswer {
    pub topic: String,
    pub text: String,
    /// The earlier version of the note. If it has the same topic and is unchanged, its file gets the
    /// new text.
    pub replaces: Option<WrittenNote>,
}

/// Excerpts of notes for one prompt, the best first.
#[derive(Debug, Default)]
pub struct NoteExcerpts {
    pub excerpts: Vec<NoteExcerpt>,
    /// Sentences for the user about the search.
    pub remarks: Vec<String>,
}

#[derive(Debug)]
pub struct NoteExcerpt {
    /// The path below the vault.
    pub note: String,
    pub title: String,
    /// The headings above the text, if any.
    pub heading: String,
    pub text: String,
}

/// The fields that all requests about notes share.
#[derive(Clone)]
pub struct NoteRequest {
    pub settings: NotesSettings,
    /// A configured vault or a folder in one, as the user or the model wrote it; `None` for the
    /// first vault.
    pub vault: Option<String>,
    /// Called with a short description of the current step.
    pub on_progress: Arc<dyn Fn(&str) + Send + Sync>,
}
