//! The states of the Python recognizer.

/// Offsets are bytes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PythonicState {
    /// Before an item or the end of the list.
    BeforeItem,
    Name {
        chars: usize,
    },
    /// After the parenthesis of a call without a marker, before `)` or the `=` after the first
    /// argument's name.
    FirstArgument {
        has_name: bool,
    },
    /// After that `=`. A second one would make it a comparison.
    Equals,
    Arguments,
    /// Before a comma or the end of the list.
    AfterItem,
    /// In an item that is not a call. Possible only after a marker.
    NotACall,
    /// After a list without a marker. `has_separator` if whitespace, a semicolon or a comma
    /// followed it.
    ListClosed {
        has_separator: bool,
    },
    /// After a list without a marker, in a possible closing marker.
    PossibleCloser {
        start: usize,
    },
    /// A list without a marker was the last thing on its line, so it contains calls.
    LineEnded,
    /// In a call with an invalid string, before the end of its line.
    UnterminatedString,
    /// The line of a call with an invalid string ended at this offset.
    UnterminatedAtLine(usize),
}
