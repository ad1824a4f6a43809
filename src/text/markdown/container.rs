//! Block quotes and list items: how a line continues them, and the row prefixes they add.

use super::block_event::{BlockPrefix, PrefixPart};
use super::line_syntax::{self, CODE_INDENT, ListMarker};

#[derive(Debug, Clone, PartialEq)]
pub enum Container {
    Quote,
    Item {
        /// Columns by which its content is indented within the enclosing container.
        content_indent: usize,
        marker: ListMarker,
        is_marker_shown: bool,
        /// `None` if the item is not a task.
        is_task_done: Option<bool>,
        /// The item has no content so far, only a marker.
        is_empty: bool,
        /// Source offset of the line with its marker.
        line_start: usize,
        is_after_blank_line: bool,
    },
}

/// The part of a line after the prefixes of the containers it continues.
pub struct LineRest<'a> {
    pub source: &'a str,
    pub start: usize,
    pub end: usize,
}

impl<'a> LineRest<'a> {
    pub fn text(&self) -> &'a str {
        &self.source[self.start..self.end]
    }

    pub fn indent(&self) -> usize {
        line_syntax::indent(self.text())
    }

    /// The text after the indentation.
    pub fn unindented(&self) -> &'a str {
        &self.text()[self.indent()..]
    }

    pub fn is_blank(&self) -> bool {
        line_syntax::is_blank(self.text())
    }
}

/// Skips the prefixes of the containers that the line continues, and returns their number.
pub fn match_containers(containers: &[Container], rest: &mut LineRest) -> usize {
    for (index, container) in containers.iter().enumerate() {
        let indent = rest.indent();
        match container {
            Container::Quote => {
                if indent >= CODE_INDENT || !rest.unindented().starts_with('>') {
                    return index;
                }
                rest.start += indent + 1;
                rest.start += usize::from(rest.text().starts_with(' '));
            }
            // An item that begins with a blank line ends at a second blank line.
            Container::Item {
                is_empty,
                content_indent,
                ..
            } => {
                if rest.is_blank() && !*is_empty {
                    rest.start += indent.min(*content_indent);
                } else if indent >= *content_indent && !rest.is_blank() {
                    rest.start += content_indent;
                } else {
                    return index;
                }
            }
        }
    }
    containers.len()
}

/// Records that the open items have content.
pub fn mark_items_nonempty(containers: &mut [Container]) {
    for container in containers {
        if let Container::Item { is_empty, .. } = container {
            *is_empty = false;
        }
    }
}

/// If `text` starts with a checkbox and the innermost container is an item with a bullet, marks the
/// item as a task and returns the length of the checkbox in bytes; otherwise returns 0.
pub fn take_checkbox(containers: &mut [Container], text: &str) -> usize {
    let Some(Container::Item {
        is_task_done,
        marker,
        ..
    }) = containers.last_mut()
    else {
        return 0;
    };
    let is_done = match text.get(..4) {
        Some("[ ] ") => false,
        Some("[x] " | "[X] ") => true,
        _ => return 0,
    };
    if marker.number.is_some() {
        return 0;
    }
    *is_task_done = Some(is_done);
    4
}

/// Returns the row prefixes of the next leaf, and records its item markers as shown.
pub fn take_prefix(containers: &mut [Container]) -> BlockPrefix {
    let rest = continuation_parts(containers);
    let mut first = Vec::with_capacity(containers.len());
    for container in containers {
        match container {
            Container::Item {
                marker,
                is_marker_shown,
                is_task_done,
                ..
            } if !*is_marker_shown => {
                *is_marker_shown = true;
                first.push(match (*is_task_done, marker.number) {
                    (Some(done), _) => PrefixPart::Task(done),
                    (None, Some(number)) => PrefixPart::Number(number, marker.delimiter),
                    (None, None) => PrefixPart::Bullet,
                });
            }
            other => first.push(continuation_part(other)),
        }
    }
    BlockPrefix { first, rest }
}

/// Finds the first item whose marker has not been shown. Returns the start of its line, and whether
/// a blank line precedes it.
pub fn first_unshown_item(containers: &[Container]) -> Option<(usize, bool)> {
    containers.iter().find_map(|container| match container {
        Container::Item {
            is_marker_shown: false,
            line_start,
            is_after_blank_line,
            ..
        } => Some((*line_start, *is_after_blank_line)),
        _ => None,
    })
}

fn continuation_part(container: &Container) -> PrefixPart {
    match container {
        Container::Quote => PrefixPart::Quote,
        Container::Item {
            marker,
            is_task_done,
            ..
        } => match (is_task_done, marker.number) {
            (Some(done), _) => PrefixPart::Space(PrefixPart::Task(*done).columns()),
            (None, Some(number)) => {
                PrefixPart::Space(PrefixPart::Number(number, marker.delimiter).columns())
            }
            (None, None) => PrefixPart::Space(PrefixPart::Bullet.columns()),
        },
    }
}

/// The parts of the prefix of every row but the first.
pub fn continuation_parts(containers: &[Container]) -> Vec<PrefixPart> {
    containers.iter().map(continuation_part).collect()
}
