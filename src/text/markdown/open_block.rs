//! The leaf block that the next line may continue, and the lines given to the block scanner.

use super::block_event::BlockEvent;
use super::container::LineRest;
use super::line_syntax::Fence;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Default)]
pub enum OpenBlock {
    #[default]
    None,
    Paragraph {
        /// May become the header of a table.
        last_line: Range<usize>,
        /// The delimiter that closes the display math that the paragraph is in.
        math_close: Option<&'static str>,
    },
    Fence {
        fence: Fence,
        indent: usize,
    },
    Indented {
        /// Source offsets of trailing blank lines, which belong to the block only if more code
        /// follows.
        blank_lines: Vec<usize>,
    },
    Table,
    /// A heading or rule: one line, which may arrive in several parts.
    SingleLine,
}

/// A line, or the next part of a long one.
#[derive(Debug, Clone, Copy)]
pub struct LinePart {
    pub start: usize,
    pub end: usize,
    /// Continues the line of the previous part.
    pub is_continuation: bool,
    /// The line is too long for one part, so another part follows.
    pub is_cut: bool,
    /// The stream may still extend the line.
    pub is_partial: bool,
}

impl OpenBlock {
    /// Scans the next line of open display math, in which `- b` or `---` do not start a block.
    /// Returns false if none is open. A blank line ends it with its paragraph.
    pub fn push_math_line(&mut self, rest: &LineRest, emit: &mut impl FnMut(BlockEvent)) -> bool {
        let Self::Paragraph {
            last_line,
            math_close,
        } = self
        else {
            return false;
        };
        let Some(close) = *math_close else {
            return false;
        };
        let line = rest.start + rest.indent()..rest.end;
        if rest.source[line.clone()].contains(close) {
            *math_close = None;
        }
        emit(BlockEvent::Line(line.clone()));
        *last_line = line;
        true
    }
}
