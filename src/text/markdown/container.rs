//! Quotes and items: what a line must begin with to go on with them, and what they
//! put in front of their rows.

use super::block_event::{Part, Prefix};
use super::line_syntax::{self, CODE_INDENT, Marker};

#[derive(Debug, Clone, PartialEq)]
pub enum Container {
    Quote,
    Item {
        /// Columns that its lines are indented by, from the container around it.
        columns: usize,
        marker: Marker,
        /// Its marker is on screen.
        shown: bool,
        /// A task, and whether it is done.
        task: Option<bool>,
        /// Nothing but its marker came so far.
        empty: bool,
        /// Where its line begins.
        at: usize,
        /// A blank line came before it.
        blank: bool,
    },
}

/// What is left of a line behind the containers that it continues.
pub struct Rest<'a> {
    pub source: &'a str,
    pub at: usize,
    pub end: usize,
}

impl<'a> Rest<'a> {
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
pub fn continued(containers: &[Container], rest: &mut Rest) -> usize {
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
            Container::Item { empty, columns, .. } => {
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
pub fn fill(containers: &mut [Container]) {
    for container in containers {
        if let Container::Item { empty, .. } = container {
            *empty = false;
        }
    }
}

/// Notes whether the item that just began is a task, and returns the bytes of
/// its box.
pub fn mark_task(containers: &mut [Container], text: &str) -> usize {
    let Some(Container::Item { task, marker, .. }) = containers.last_mut() else {
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
pub fn prefix_of(containers: &mut [Container]) -> Prefix {
    let rest = rest_of(containers);
    let mut first = Vec::with_capacity(containers.len());
    for container in containers {
        match container {
            Container::Item {
                marker,
                shown,
                task,
                ..
            } if !*shown => {
                *shown = true;
                first.push(match (*task, marker.number) {
                    (Some(done), _) => Part::Task(done),
                    (None, Some(number)) => Part::Number(number, marker.sign),
                    (None, None) => Part::Bullet,
                });
            }
            other => first.push(part(other)),
        }
    }
    Prefix { first, rest }
}

/// Where an item begins whose marker is not on screen yet, and whether a blank line
/// came before it.
pub fn unseen(containers: &[Container]) -> Option<(usize, bool)> {
    containers.iter().find_map(|container| match container {
        Container::Item {
            shown: false,
            at,
            blank,
            ..
        } => Some((*at, *blank)),
        _ => None,
    })
}

fn part(container: &Container) -> Part {
    match container {
        Container::Quote => Part::Quote,
        Container::Item { marker, task, .. } => match (task, marker.number) {
            (Some(done), _) => Part::Space(Part::Task(*done).columns()),
            (None, Some(number)) => Part::Space(Part::Number(number, marker.sign).columns()),
            (None, None) => Part::Space(Part::Bullet.columns()),
        },
    }
}

/// What stands in front of the rows that are not the first.
pub fn rest_of(containers: &[Container]) -> Vec<Part> {
    containers.iter().map(part).collect()
}
