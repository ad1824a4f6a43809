//! The groups by task in which the help and `docs/keys.md` list bindings.

/// The task that a binding serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingGroup {
    Writing,
    Conversation,
    Models,
    Tools,
    Moving,
    Screen,
    Program,
    Chat,
    ServersPane,
    Editing,
}

impl BindingGroup {
    /// All groups, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Writing,
        Self::Conversation,
        Self::Models,
        Self::Tools,
        Self::Moving,
        Self::Screen,
        Self::Program,
        Self::Chat,
        Self::ServersPane,
        Self::Editing,
    ];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Writing => "Writing",
            Self::Conversation => "The conversation",
            Self::Models => "Models",
            Self::Tools => "Tools and servers",
            Self::Moving => "Moving around",
            Self::Screen => "The screen",
            Self::Program => "The program",
            Self::Chat => "In the chat",
            Self::ServersPane => "In the servers pane",
            Self::Editing => "Editing the message",
        }
    }
}
