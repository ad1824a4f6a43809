//! Quotes and items: what a line must begin with to go on with them, and what they
//! put in front of their rows.

use super::block_event::{BlockPrefix, PrefixPart};
use super::line_syntax::{self, CODE_INDENT, ListMarker};

#[derive(Debug, Clone, PartialEq)]
pub enum Container {
    Quote,
    Item {
        /// Columns that its lines are indented by, from the container around it.
        columns: usize,
        marker: ListMarker,
        /// Its marker is on screen.
        is_marker_shown: bool,
        /// A task, and whether it is done.
        is_task_done: Option<bool>,
        /// Nothing but its marker came so far.
        is_empty: bool,
        /// Where its line begins.
        at: usize,
        /// A blank line came before it.
        after_blank_line: bool,
    },
}

/// What is left of a line behind the containers that it continues.
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

    /// The text behind the indentation.
    pub fn inner(&self) -> &'a str {
        &self.text()[self.indent()..]
    }

    pub fn is_blank(&self) -> bool {
        line_syntax::is_blank(self.text())
    }
}

/// Walks over the containers that the line continues and returns how many.
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
            // An item that begins with a blank line has no second one.
            Container::Item {
                is_empty: empty,
                columns,
                ..
            } => {
                if rest.is_blank() && !*empty {
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

/// No open item is empty any more.
pub fn mark_items_filled(containers: &mut [Container]) {
    for container in containers {
        if let Container::Item {
            is_empty: empty, ..
        } = container
        {
            *empty = false;
        }
    }
}

/// Notes whether the item that just began is a task, and returns the bytes of
/// its box.
pub fn take_task_box(containers: &mut [Container], text: &str) -> usize {
    let Some(Container::Item {
        is_task_done: task,
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
    *task = Some(done);
    4
}

/// What stands before the rows of a leaf, and that its items' markers are out.
pub fn take_prefix(containers: &mut [Container]) -> BlockPrefix {
    let rest = continuation_parts(containers);
    let mut first = Vec::with_capacity(containers.len());
    for container in containers {
        match container {
            Container::Item {
                marker,
                is_marker_shown: shown,
                is_task_done: task,
                ..
            } if !*shown => {
                *shown = true;
                first.push(match (*task, marker.number) {
                    (Some(done), _) => PrefixPart::Task(done),
                    (None, Some(number)) => PrefixPart::Number(number, marker.sign),
                    (None, None) => PrefixPart::Bullet,
                });
            }
            other => first.push(continuation_part(other)),
        }
    }
    BlockPrefix { first, rest }
}

/// Where an item begins whose marker is not on screen yet, and whether a blank line
/// came before it.
pub fn unshown_item(containers: &[Container]) -> Option<(usize, bool)> {
    containers.iter().find_map(|container| match container {
        Container::Item {
            is_marker_shown: false,
            at,
            after_blank_line: blank,
            ..
        } => Some((*at, *blank)),
        _ => None,
    })
}

fn continuation_part(container: &Container) -> PrefixPart {
    match container {
        Container::Quote => PrefixPart::Quote,
        Container::Item {
            marker,
            is_task_done: task,
            ..
        } => match (task, marker.number) {
            (Some(done), _) => PrefixPart::Space(PrefixPart::Task(*done).columns()),
            (None, Some(number)) => {
                PrefixPart::Space(PrefixPart::Number(number, marker.sign).columns())
            }
            (None, None) => PrefixPart::Space(PrefixPart::Bullet.columns()),
        },
    }
}

/// What stands in front of the rows that are not the first.
pub fn continuation_parts(containers: &[Container]) -> Vec<PrefixPart> {
    containers.iter().map(continuation_part).collect()
}
