//! Block quotes and list items: how a line continues them, and the row prefixes they add.

use super::block_event::{BlockPrefix, PrefixPart};
use super::line_syntax::{self, CODE_INDENT, ListMarker};

#[derive(Debug, Clone, PartialEq)]
pub enum Container {
    Quote,
    Item {
        /// Indentation of its lines relative to the enclosing container.
        columns: usize,
        marker: ListMarker,
        is_marker_shown: bool,
        /// `Some` for a task.
        is_task_done: Option<bool>,
        /// No content so far, only the marker.
        is_empty: bool,
        /// Start of its line.
        at: usize,
        after_blank_line: bool,
    },
}

/// The rest of a line after the containers it continues.
pub struct LineRest<'a> {
    pub source: &'a str,
    pub at: usize,
    pub end: usize,
}

impl<'a> LineRest<'a> {
    pub fn text(&self) -> &'a str {
        &self.source[self.at..self.end]
    }

    pub fn indent(&self) -> usize {
        line_syntax::indent(self.text())
    }

    /// The text after the indentation.
    pub fn inner(&self) -> &'a str {
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
                if indent >= CODE_INDENT || !rest.inner().starts_with('>') {
                    return index;
                }
                rest.at += indent + 1;
                rest.at += usize::from(rest.text().starts_with(' '));
            }
            // An item that begins with a blank line ends at a second one.
            Container::Item {
                is_empty, columns, ..
            } => {
                if rest.is_blank() && !*is_empty {
                    rest.at += indent.min(*columns);
                } else if indent >= *columns && !rest.is_blank() {
                    rest.at += columns;
                } else {
                    return index;
                }
            }
        }
    }
    containers.len()
}

/// Records that the open items have content.
pub fn mark_items_filled(containers: &mut [Container]) {
    for container in containers {
        if let Container::Item { is_empty, .. } = container {
            *is_empty = false;
        }
    }
}

/// Records whether the item that just began is a task. Returns the byte length of its checkbox.
pub fn take_checkbox(containers: &mut [Container], text: &str) -> usize {
    let Some(Container::Item {
        is_task_done,
        marker,
        ..
    }) = containers.last_mut()
    else {
        return 0;
    };
    let done = match text.get(..4) {
        Some("[ ] ") => false,
        Some("[x] " | "[X] ") => true,
        _ => return 0,
    };
    if marker.number.is_some() {
        return 0;
    }
    *is_task_done = Some(done);
    4
}

/// The row prefixes of a leaf. Records the markers of its items as shown.
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

/// The first item whose marker is not shown yet: its start, and whether a blank line precedes it.
pub fn unshown_item(containers: &[Container]) -> Option<(usize, bool)> {
    containers.iter().find_map(|container| match container {
        Container::Item {
            is_marker_shown: false,
            at,
            after_blank_line,
            ..
        } => Some((*at, *after_blank_line)),
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

/// The prefix of all rows but the first.
pub fn continuation_parts(containers: &[Container]) -> Vec<PrefixPart> {
    containers.iter().map(continuation_part).collect()
}
