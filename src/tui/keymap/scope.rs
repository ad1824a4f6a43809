//! The scopes of bindings: where each applies, and which of several comes first.

use super::layers::KeyContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingScope {
    Always,
    /// The message has the focus.
    Message,
    /// The chat, the thinking or the servers pane has the focus.
    Pane,
    Servers,
    /// A tool call is selected in the chat.
    CallLine,
    /// Something is selected in the chat.
    ChatStop,
    /// Lines of the chat are being selected with the keyboard.
    Lines,
    /// The chat has the focus, and the find bar is open.
    Matches,
    Layer(KeyContext),
}

impl BindingScope {
    /// How specific the scope is. Where several scopes apply, the deepest one comes first.
    pub(super) fn depth(self) -> u8 {
        match self {
            Self::Always => 0,
            Self::Message | Self::Pane => 1,
            Self::Servers | Self::ChatStop | Self::Matches => 2,
            Self::CallLine | Self::Lines => 3,
            Self::Layer(context) => 4 + context.depth(),
        }
    }

    /// Whether both may apply at the same time. The scope of a layer overlaps no scope of the chat,
    /// because an open layer receives the keys instead of the chat.
    pub(super) fn overlaps(self, other: Self) -> bool {
        if let (Self::Layer(context), Self::Layer(other)) = (self, other) {
            return context.is_open_with(other);
        }
        if [self, other]
            .iter()
            .any(|scope| matches!(scope, Self::Layer(_)))
        {
            return false;
        }
        let either = |scope| self == scope || other == scope;
        let is_in_chat = |scope| {
            matches!(
                scope,
                Self::CallLine | Self::ChatStop | Self::Lines | Self::Matches
            )
        };
        if self == other || either(Self::Always) {
            return true;
        }
        if either(Self::Message) {
            return false;
        }
        either(Self::Pane) || is_in_chat(self) && is_in_chat(other)
    }

    /// Whether both may apply at the same time, and this one comes first.
    pub(super) fn is_narrower_than(self, other: Self) -> bool {
        self.overlaps(other) && self.depth() > other.depth()
    }
}
