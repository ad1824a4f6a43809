//! The states of the Python recognizer.

/// Progress within the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PythonicState {
    /// Before an item or the end of the list.
    Item,
    Name {
        chars: usize,
    },
    /// After the parenthesis of a call without a marker: before its end or `name=`.
    FirstArgument {
        named: bool,
    },
    /// After that `=`; a second one would make it a comparison.
    Equals,
    Arguments,
    /// Before a comma or the end of the list.
    AfterItem,
    /// In an item after a marker that is not a call.
    NotACall,
    /// After a list without a marker. Only a list alone on its line is a call; others are links,
    /// indexes or examples.
    ListClosed {
        blank: bool,
    },
    /// After such a list, in a possible end-of-message token.
    MessageEnd {
        start: usize,
    },
    /// The list was alone on its line.
    StandsAlone,
    /// In a call with an invalid string, waiting for the end of its line.
    UnterminatedString,
    /// At the end of that line.
    UnterminatedAtLine(usize),
}
