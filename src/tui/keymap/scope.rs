//! Where a binding applies.

use super::layers::{KeyContext, LayerKey};
use super::{Action, Binding};

/// The scope in which a binding applies.
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
    /// The chat has the focus, and the find bar is open.
    Matches,
    /// This part of a list, form or text is open.
    Layer(KeyContext),
}

impl BindingScope {
    /// How specific the scope is. Where several scopes apply, the deepest one comes first.
    pub(super) fn depth(self) -> u8 {
        match self {
            Self::Always => 0,
            Self::Message | Self::Pane => 1,
            Self::Servers | Self::ChatStop | Self::Matches => 2,
            Self::CallLine => 3,
            Self::Layer(context) => 4 + context.depth(),
        }
    }

    /// Whether both may apply at the same time. What is open over the chat takes the keys of the
    /// chat's actions.
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
        let is_in_chat = |scope| matches!(scope, Self::CallLine | Self::ChatStop | Self::Matches);
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

impl Binding {
    /// Whether a key of both would be ambiguous, or would never reach one of them.
    pub(super) fn competes_with(&self, other: &Self) -> bool {
        let is_layer = |binding: &Self| matches!(binding.scope, BindingScope::Layer(_));
        match (is_layer(self), is_layer(other)) {
            (true, false) => other.action.precedes(self.scope),
            (false, true) => self.action.precedes(other.scope),
            // One letter for answers that no question offers together.
            (true, true)
                if self.scope == other.scope && self.default_keys == other.default_keys =>
            {
                false
            }
            // One key may leave both.
            (true, true) if self.is_exit() && other.is_exit() => false,
            _ => self.scope.overlaps(other.scope),
        }
    }

    /// Whether both may have the same key, because this one comes first where both apply.
    pub(super) fn is_exception_to(&self, other: &Self) -> bool {
        let is_narrower = self.scope.is_narrower_than(other.scope);
        is_narrower && other.scope != BindingScope::Always && !other.is_exit()
    }

    /// Whether its key leaves what is open over the chat.
    pub(super) fn is_exit(&self) -> bool {
        self.action == Action::Layer(LayerKey::Back)
    }

    /// Whether the program would be unusable without a key for it.
    pub(super) fn needs_key(&self) -> bool {
        let confirms = self.action == Action::Layer(LayerKey::Confirm);
        self.action == Action::Send || self.is_exit() || confirms
    }
}

impl Action {
    /// Whether its key acts even where this layer is open.
    fn precedes(self, layer: BindingScope) -> bool {
        let is_dialog = matches!(layer, BindingScope::Layer(context) if context.is_of_dialog());
        match self {
            Self::Interrupt | Self::Redraw | Self::Suspend => true,
            Self::Help | Self::Log | Self::Mouse | Self::Servers | Self::Thinking | Self::Raw => {
                is_dialog
            }
            _ => false,
        }
    }
}
