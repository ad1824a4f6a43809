//! Commands for notes.

/// Commands for notes. Where no event is named, a notice reports the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteCommand {
    /// Finds the notes whose paths match this text. Answered by [`super::Event::NotePathsFound`]. There
    /// is no answer without a folder of notes, for an overlong text, or if another search is requested
    /// before this one starts.
    FindPaths(String),
    /// Opens a note, given its path or its file name.
    Open(String),
    Close,
    /// Shows the name of the open note.
    ShowOpen,
    /// Starts or stops sending excerpts of notes with ordinary prompts.
    Consult(bool),
    /// Asks whether to use this folder of notes, given as the user typed it.
    UseFolder(String),
    /// Reports whether notes are sent with prompts.
    ShowConsulting,
}
