//! The report: figures, their upper bounds, and whether they exceed them.

use std::fmt::Write;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    Milliseconds,
    Microseconds,
    Seconds,
    Megabytes,
    Bytes,
    Times,
}

impl Unit {
    fn format(self, figure: f64) -> String {
        match self {
            Self::Milliseconds => format!("{figure:.1} ms"),
            Self::Microseconds => format!("{figure:.1} µs"),
            Self::Seconds => format!("{figure:.3} s"),
            Self::Megabytes => format!("{figure:.1} MB"),
            Self::Bytes => format!("{figure:.0} B"),
            Self::Times => format!("{figure:.2} ×"),
        }
    }
}

struct Row {
    label: String,
    /// `None` if the system does not report the figure.
    figure: Option<f64>,
    unit: Unit,
    bound: Option<f64>,
}

impl Row {
    fn exceeds_bound(&self) -> bool {
        matches!((self.figure, self.bound), (Some(figure), Some(bound)) if figure > bound)
    }
}

#[derive(Default)]
pub struct Report(Vec<Row>);

impl Report {
    /// Adds a figure and its upper bound, both in `unit`.
    pub fn add_bounded(
        &mut self,
        label: impl Into<String>,
        figure: Option<f64>,
        unit: Unit,
        bound: f64,
    ) {
        self.push(label.into(), figure, unit, Some(bound));
    }

    /// Adds a figure without a bound.
    pub fn add(&mut self, label: impl Into<String>, figure: Option<f64>, unit: Unit) {
        self.push(label.into(), figure, unit, None);
    }

    fn push(&mut self, label: String, figure: Option<f64>, unit: Unit, bound: Option<f64>) {
        let row = Row {
            label,
            figure,
            unit,
            bound,
        };
        // Print each row immediately, because the whole run takes minutes.
        eprintln!("{}", format_row(&row));
        self.0.push(row);
    }

    pub fn has_exceeded_bound(&self) -> bool {
        self.0.iter().any(Row::exceeds_bound)
    }

    pub fn to_text(&self) -> String {
        let mut text = format!("\n{:<66} {:>14} {:>12}\n", "", "measured", "at most");
        for row in &self.0 {
            let _ = writeln!(text, "{}", format_row(row));
        }
        text
    }
}

fn format_row(row: &Row) -> String {
    let figure = match row.figure {
        Some(figure) => row.unit.format(figure),
        None => "not available".to_owned(),
    };
    let bound = match row.bound {
        Some(bound) => row.unit.format(bound),
        None => String::new(),
    };
    let verdict = match row.bound {
        None => "",
        Some(_) if row.figure.is_none() => "",
        Some(_) if row.exceeds_bound() => "over",
        Some(_) => "ok",
    };
    format!("{:<66} {figure:>14} {bound:>12}  {verdict}", row.label)
        .trim_end()
        .to_owned()
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}

/// The value at `share` of the way through the sorted values: 0.5 is the median, 1.0 the maximum.
pub fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).ceil() as usize;
    sorted.get(index).copied().unwrap_or_default()
}
