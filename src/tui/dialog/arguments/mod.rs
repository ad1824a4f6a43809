//! The arguments of a call as a dialog draws them, and which parts have been drawn. There are two
//! views: a readable one, and the exact JSON.

mod coverage;
mod document;
pub mod editable;
mod json_lines;
mod language;
mod rows;
mod values;

pub use rows::ArgumentRows;

use crate::domain::Arguments;
use crate::text::highlight::Highlighter;
use crate::tui::theme::Glyphs;
pub use coverage::Coverage;
use document::ArgumentDocument;
use std::ops::Range;
use std::time::Duration;

/// The arguments of one call, and a record of the parts that have been drawn.
#[derive(Debug, Clone)]
pub struct DrawnArguments {
    arguments: Arguments,
    readable: View,
    json: View,
    shows_json: bool,
    /// When the last undrawn part was drawn, in either view.
    fully_drawn_at: Option<Duration>,
}

#[derive(Debug, Clone)]
struct View {
    document: ArgumentDocument,
    drawn: Coverage,
}

impl View {
    fn new(document: ArgumentDocument) -> Self {
        let drawn = Coverage::new(document.len());
        Self { document, drawn }
    }
}

impl DrawnArguments {
    pub fn new(arguments: &Arguments) -> Self {
        Self {
            arguments: arguments.clone(),
            readable: View::new(ArgumentDocument::readable(arguments)),
            json: View::new(ArgumentDocument::json(arguments)),
            shows_json: false,
            fully_drawn_at: None,
        }
    }

    /// Replaces the arguments. If they changed, all of them count as undrawn.
    pub fn update(&mut self, arguments: &Arguments) {
        // Objects compare equal in any order, but the JSON view shows the order.
        let is_same = self.arguments == *arguments && self.arguments.keys().eq(arguments.keys());
        if !is_same {
            let shows_json = self.shows_json;
            *self = Self::new(arguments);
            self.shows_json = shows_json;
        }
    }

    /// Switches between the readable view and the JSON.
    pub fn toggle_json(&mut self) {
        self.shows_json = !self.shows_json;
    }

    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub fn shows_json(&self) -> bool {
        self.shows_json
    }

    fn view(&self) -> &View {
        match self.shows_json {
            true => &self.json,
            false => &self.readable,
        }
    }

    /// Wraps the visible view losslessly: the arguments can be rebuilt from the rows.
    pub fn rows(&self, columns: u16, glyphs: &Glyphs) -> ArgumentRows {
        self.view().document.rows(columns, glyphs.continuations)
    }

    /// Marks these rows as drawn; `starts` holds the position at which each row starts.
    pub fn mark_drawn(&mut self, rows: Range<usize>, starts: &[usize], now: Duration) {
        let view = match self.shows_json {
            true => &mut self.json,
            false => &mut self.readable,
        };
        let end = starts.get(rows.end).copied();
        let end = end.unwrap_or(view.document.len());
        let Some(start) = starts.get(rows.start).copied() else {
            return;
        };
        view.drawn.add(start..end);
        if view.drawn.first_gap().is_none() && self.fully_drawn_at.is_none() {
            self.fully_drawn_at = Some(now);
        }
    }

    /// The first undrawn position of the visible view.
    pub fn first_undrawn(&self) -> Option<usize> {
        match self.fully_drawn_at {
            Some(_) => None,
            None => self.view().drawn.first_gap(),
        }
    }

    /// When the arguments became fully drawn, if they are.
    pub fn fully_drawn_at(&self) -> Option<Duration> {
        self.fully_drawn_at
    }

    /// Number of rows that are not fully drawn; `starts` holds the position at which each row starts.
    pub fn undrawn_rows(&self, starts: &[usize]) -> usize {
        match self.fully_drawn_at {
            Some(_) => 0,
            None => self.view().drawn.rows_with_gaps(starts),
        }
    }
}

#[cfg(test)]
mod tests;
