//! Scans the block structure of Markdown line by line (CommonMark 0.31): the containers that a
//! line continues or opens, and the leaf that its text belongs to. The state is small and cheap to
//! clone, so an unfinished line can be scanned again after more text arrives.

use super::block_event::{BlockEvent, LeafKind};
use super::container::{
    Container, LineRest, continuation_parts, first_unshown_item, mark_items_nonempty,
    match_containers, take_checkbox, take_prefix,
};
use super::line_syntax::{self, CODE_INDENT};
use super::math::opens_display_math;
use super::open_block::{LinePart, OpenBlock};

/// Maximum nesting of containers; deeper markers are treated as text.
const DEPTH_MAX: usize = 48;

#[derive(Debug, Clone, Default)]
pub struct BlockScanner {
    containers: Vec<Container>,
    leaf: OpenBlock,
    is_after_blank_line: bool,
    /// The kind of the last leaf, and the number of containers around it.
    previous_leaf: Option<(LeafKind, usize)>,
    /// Number of containers that were already open for the last leaf; deeper ones are new.
    shared_containers: usize,
    /// Source offset of the current line.
    line_start: usize,
}

impl BlockScanner {
    pub fn push_line(&mut self, source: &str, part: LinePart, emit: &mut impl FnMut(BlockEvent)) {
        if part.is_continuation {
            return emit(BlockEvent::ContinueLine(part.start..part.end));
        }
        self.line_start = part.start;
        let mut rest = LineRest {
            source,
            start: part.start,
            end: part.end,
        };
        let matched = match_containers(&self.containers, &mut rest);
        let all_matched = matched == self.containers.len();
        if all_matched && self.push_code_line(&rest, part.is_cut, emit)
            || part.is_cut && rest.is_blank()
        {
            return;
        }
        if rest.is_blank() {
            return self.push_blank_line(matched, &rest, emit);
        }
        if all_matched && self.leaf.push_math_line(&rest, emit) {
            return;
        }
        let has_opened = self.open_containers(matched, &mut rest, emit);
        let continues_paragraph = !has_opened && matches!(self.leaf, OpenBlock::Paragraph { .. });
        if !self.push_block_line(matched, has_opened, &rest, part, emit) {
            self.push_text_line(matched, has_opened, continues_paragraph, &rest, emit);
        }
        if !rest.is_blank() {
            mark_items_nonempty(&mut self.containers);
            self.is_after_blank_line = false;
        }
    }

    /// Closes all open blocks at the end of the text.
    pub fn finish(&mut self, emit: &mut impl FnMut(BlockEvent)) {
        self.close_containers_beyond(0, emit);
        if self.leaf != OpenBlock::None {
            self.close_leaf(emit);
        }
    }

    /// Whether an unfinished line that begins with `text` could still close the fence.
    pub fn could_close_fence(&self, text: &str) -> bool {
        let has_only = |delimiter: u8| text.trim_matches(' ').bytes().all(|byte| byte == delimiter);
        matches!(&self.leaf, OpenBlock::Fence { fence, .. } if has_only(fence.delimiter))
    }

    pub fn is_in_fence(&self) -> bool {
        matches!(self.leaf, OpenBlock::Fence { .. })
    }

    /// Scans the next line or the closing fence of an open code block. Returns false if no code
    /// block is open or the line is not part of it.
    fn push_code_line(
        &mut self,
        rest: &LineRest,
        is_cut: bool,
        emit: &mut impl FnMut(BlockEvent),
    ) -> bool {
        match &mut self.leaf {
            OpenBlock::Fence { fence, indent } => {
                if !is_cut && fence.is_closed_by(rest.text()) {
                    self.close_leaf(emit);
                } else {
                    let stripped = rest.indent().min(*indent);
                    emit(BlockEvent::Line(rest.start + stripped..rest.end));
                }
                self.is_after_blank_line = false;
                true
            }
            OpenBlock::Indented { blank_lines } if rest.is_blank() => {
                blank_lines.push(rest.end);
                self.is_after_blank_line = true;
                true
            }
            OpenBlock::Indented { blank_lines } if rest.indent() >= CODE_INDENT => {
                for offset in blank_lines.drain(..) {
                    emit(BlockEvent::Line(offset..offset));
                }
                emit(BlockEvent::Line(rest.start + CODE_INDENT..rest.end));
                self.is_after_blank_line = false;
                true
            }
            _ => false,
        }
    }

    fn push_blank_line(
        &mut self,
        matched: usize,
        rest: &LineRest,
        emit: &mut impl FnMut(BlockEvent),
    ) {
        match &mut self.leaf {
            OpenBlock::Indented { blank_lines } => blank_lines.push(rest.end),
            OpenBlock::None => {}
            _ => self.close_leaf(emit),
        }
        // A quote ends at a blank line without `>`; a list item does not.
        let ends_quote = self.containers[matched..].first() == Some(&Container::Quote);
        let ends_empty_item = matches!(
            self.containers.get(matched),
            Some(Container::Item { is_empty: true, .. })
        );
        if ends_quote || ends_empty_item {
            self.close_containers_beyond(matched, emit);
        }
        self.is_after_blank_line = true;
    }

    /// Opens the quotes and list items that begin on this line, after closing the containers that
    /// the line does not continue. Returns whether it opened any.
    fn open_containers(
        &mut self,
        matched: usize,
        rest: &mut LineRest,
        emit: &mut impl FnMut(BlockEvent),
    ) -> bool {
        let mut depth = matched;
        let mut has_opened = false;
        while rest.indent() < CODE_INDENT && depth < DEPTH_MAX {
            let inner = rest.unindented();
            let container = if inner.starts_with('>') {
                rest.start += rest.indent() + 1;
                rest.start += usize::from(rest.text().starts_with(' '));
                Container::Quote
            } else {
                let is_in_same_containers = !has_opened && matched == self.containers.len();
                match self.parse_item(depth, is_in_same_containers, rest) {
                    Some(item) => item,
                    None => break,
                }
            };
            if !has_opened {
                self.close_containers_beyond(matched, emit);
                self.close_leaf(emit);
            }
            // A nested container counts as content of its item.
            mark_items_nonempty(&mut self.containers);
            self.containers.push(container);
            has_opened = true;
            depth += 1;
        }
        has_opened
    }

    /// Parses the marker of a list item. With `is_in_same_containers`, the line is in the
    /// containers of the open leaf, so the item must be able to interrupt an open paragraph.
    fn parse_item(
        &self,
        depth: usize,
        is_in_same_containers: bool,
        rest: &mut LineRest,
    ) -> Option<Container> {
        let (indent, inner) = (rest.indent(), rest.unindented());
        let mut marker =
            line_syntax::list_marker(inner).filter(|_| !line_syntax::is_rule(inner))?;
        let content = &inner[marker.columns..];
        let is_item_blank = line_syntax::is_blank(content);
        let is_in_paragraph =
            is_in_same_containers && matches!(self.leaf, OpenBlock::Paragraph { .. });
        if is_in_paragraph && (is_item_blank || marker.number.is_some_and(|number| number != 1)) {
            return None;
        }
        let spaces = match line_syntax::indent(content) {
            _ if is_item_blank => 1,
            spaces @ 1..=CODE_INDENT => spaces,
            _ => 1,
        };
        // Number items consecutively, whatever their numbers in the source.
        if let Some(Container::Item {
            marker: previous, ..
        }) = self.containers.get(depth)
            && previous.delimiter == marker.delimiter
        {
            marker.number = previous.number.map(|number| number.saturating_add(1));
        }
        let columns = indent + marker.columns + spaces;
        rest.start = (rest.start + columns).min(rest.end);
        Some(Container::Item {
            content_indent: columns,
            marker,
            is_marker_shown: false,
            is_task_done: None,
            is_empty: true,
            line_start: self.line_start,
            is_after_blank_line: self.is_after_blank_line,
        })
    }

    /// Scans headings, opening fences, rules, indented code and the delimiter rows of tables.
    /// Returns false if the line is text or another table row.
    fn push_block_line(
        &mut self,
        matched: usize,
        has_opened: bool,
        rest: &LineRest,
        part: LinePart,
        emit: &mut impl FnMut(BlockEvent),
    ) -> bool {
        if rest.is_blank() {
            return true;
        }
        let (indent, inner) = (rest.indent(), rest.unindented());
        let start = rest.start + indent;
        let is_in_same_containers = !has_opened && matched == self.containers.len();
        let is_in_paragraph = matches!(self.leaf, OpenBlock::Paragraph { .. });
        // The line above, if this one belongs to the same paragraph.
        let line_above = match &self.leaf {
            OpenBlock::Paragraph { last_line, .. } if is_in_same_containers => {
                Some(last_line.clone())
            }
            _ => None,
        };
        if indent >= CODE_INDENT {
            if is_in_paragraph && !has_opened {
                return false;
            }
            self.open_leaf(matched, has_opened, LeafKind::Code { info: 0..0 }, emit);
            emit(BlockEvent::Line(rest.start + CODE_INDENT..rest.end));
            let blank_lines = Vec::new();
            self.leaf = OpenBlock::Indented { blank_lines };
        } else if let Some((level, text)) = line_syntax::atx_heading(inner) {
            self.open_leaf(matched, has_opened, LeafKind::Heading(level), emit);
            emit(BlockEvent::Line(start + text.start..start + text.end));
            self.leaf = OpenBlock::SingleLine;
        } else if part.is_cut {
            return false;
        } else if let Some((fence, info)) = line_syntax::fence(inner) {
            let info = start + info.start..start + info.end;
            self.open_leaf(matched, has_opened, LeafKind::Code { info }, emit);
            self.leaf = OpenBlock::Fence { fence, indent };
        } else if let Some(level) =
            line_syntax::setext_level(inner).filter(|_| line_above.is_some())
        {
            emit(BlockEvent::ChangeKind(LeafKind::Heading(level)));
            self.previous_leaf = Some((LeafKind::Heading(level), self.containers.len()));
            self.close_leaf(emit);
        } else if line_syntax::is_rule(inner) {
            self.open_leaf(matched, has_opened, LeafKind::Rule, emit);
            self.leaf = OpenBlock::SingleLine;
        } else if let Some(columns) = line_above.and_then(|header| {
            line_syntax::table_columns(&rest.source[header], inner, part.is_partial)
        }) {
            emit(BlockEvent::ChangeKind(LeafKind::Table(columns)));
            self.previous_leaf = Some((LeafKind::Table(Vec::new()), self.containers.len()));
            self.leaf = OpenBlock::Table;
        } else {
            return false;
        }
        true
    }

    /// Scans a line of a paragraph, or a table row.
    fn push_text_line(
        &mut self,
        matched: usize,
        has_opened: bool,
        continues_paragraph: bool,
        rest: &LineRest,
        emit: &mut impl FnMut(BlockEvent),
    ) {
        let all_matched = matched == self.containers.len();
        if self.leaf == OpenBlock::Table && all_matched && !continues_paragraph {
            return emit(BlockEvent::Line(rest.start + rest.indent()..rest.end));
        }
        // Keep deep indentation: it prevents a list marker from taking effect.
        let indent = rest.indent();
        let skipped = if indent >= CODE_INDENT { 0 } else { indent };
        let mut line = rest.start + skipped..rest.end;
        if !continues_paragraph {
            if has_opened {
                line.start += take_checkbox(&mut self.containers, &rest.source[line.clone()]);
            }
            self.open_leaf(matched, has_opened, LeafKind::Paragraph, emit);
        }
        emit(BlockEvent::Line(line.clone()));
        self.leaf = OpenBlock::Paragraph {
            math_close: opens_display_math(&rest.source[line.clone()]),
            last_line: line,
        };
    }

    fn open_leaf(
        &mut self,
        matched: usize,
        has_opened: bool,
        kind: LeafKind,
        emit: &mut impl FnMut(BlockEvent),
    ) {
        if !has_opened {
            self.close_containers_beyond(matched, emit);
            self.close_leaf(emit);
        }
        let depth = self.containers.len();
        let previous_leaf = self.previous_leaf.as_ref();
        let has_blank_row = previous_leaf.is_some_and(|(previous, around)| {
            let is_top_level = depth == 0 || *around == 0;
            self.is_after_blank_line || is_top_level && kind.needs_blank_row_after(previous)
        });
        let prefix = take_prefix(&mut self.containers);
        let shared = self.shared_containers.min(depth);
        let blank_row_prefix =
            has_blank_row.then(|| continuation_parts(&self.containers[..shared]));
        self.shared_containers = depth;
        self.previous_leaf = Some((kind.clone(), depth));
        emit(BlockEvent::OpenLeaf {
            source_start: self.line_start,
            kind,
            prefix,
            blank_row_prefix,
        });
    }

    fn close_leaf(&mut self, emit: &mut impl FnMut(BlockEvent)) {
        if self.leaf != OpenBlock::None {
            self.leaf = OpenBlock::None;
            emit(BlockEvent::CloseLeaf);
        }
    }

    /// Closes all containers except the outermost `depth`. If an item's marker has not been shown,
    /// emits an empty item first.
    fn close_containers_beyond(&mut self, depth: usize, emit: &mut impl FnMut(BlockEvent)) {
        if self.containers.len() <= depth {
            return;
        }
        self.close_leaf(emit);
        if let Some((item_start, is_after_blank_line)) =
            first_unshown_item(&self.containers[depth..])
        {
            let saved_start = std::mem::replace(&mut self.line_start, item_start);
            let saved_blank = std::mem::replace(&mut self.is_after_blank_line, is_after_blank_line);
            self.open_leaf(self.containers.len(), true, LeafKind::EmptyItem, emit);
            (self.line_start, self.is_after_blank_line) = (saved_start, saved_blank);
            emit(BlockEvent::CloseLeaf);
        }
        self.containers.truncate(depth);
        self.shared_containers = self.shared_containers.min(depth);
    }
}
