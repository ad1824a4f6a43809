//! Determines from the cells of the frames alone which arguments were drawn, and checks that an
//! answer runs only those. Independent of the program's own bookkeeping.

use crate::support::dialog_frames::{all_argument_rows, dialog_rows, has_margin};
use humble::domain::{Arguments, CallId, Decision};
use humble::protocol::UserAnswer;
use ratatui::buffer::Buffer;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// A call runs at the earliest this long after its last part was drawn.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// A call with more undrawn rows can be confirmed unread.
const UNREAD_ROWS_MIN: usize = 500;
/// On a smaller screen, rows are truncated.
const READABLE_SIZE_MIN: (u16, u16) = (20, 4);
/// Maximum number of documents that each thread caches.
const DOCUMENTS_MAX: usize = 1_500;
const FIELD_LABEL: &str = "Edit the arguments:";
const UNREAD_LABEL: &str = "Type run and press";

/// All rows of a call's arguments at one width. The cells that are not blank have the same order
/// at any width, so their indices are positions in the arguments.
struct Document {
    rows: Vec<String>,
    cells: Vec<Range<usize>>,
    /// The indices of the rows with each text.
    rows_by_text: HashMap<String, Vec<usize>>,
}

impl Document {
    fn new(arguments: &Arguments, columns: u16, as_json: bool) -> Self {
        let drawn = all_argument_rows(arguments, columns, as_json);
        let (mut cells, mut end) = (Vec::new(), 0);
        let mut rows_by_text: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, row) in drawn.iter().enumerate() {
            let is_visible = |cell: &&String| !matches!(cell.as_str(), " " | "");
            let start = end;
            // The first column holds the margin marker, which depends on the width.
            end += row[1..].iter().filter(is_visible).count();
            cells.push(start..end);
            rows_by_text.entry(row.concat()).or_default().push(index);
        }
        let rows = drawn.iter().map(|row| row.concat()).collect();
        Self {
            rows,
            cells,
            rows_by_text,
        }
    }

    fn len(&self) -> usize {
        self.cells.last().map_or(0, |last| last.end)
    }

    /// The longest prefixes of `rows` that occur in the document, as ranges of its rows.
    fn find(&self, rows: &[String]) -> Vec<Range<usize>> {
        let starts = rows.first().and_then(|row| self.rows_by_text.get(row));
        let found = starts.into_iter().flatten().map(|start| {
            let pairs = self.rows[*start..].iter().zip(rows);
            let same = pairs.take_while(|(ours, drawn)| ours == drawn).count();
            *start..start + same
        });
        let found: Vec<_> = found.collect();
        let longest = found.iter().map(Range::len).max().unwrap_or(0);
        found
            .into_iter()
            .filter(|rows| rows.len() == longest)
            .collect()
    }
}

/// The parts of a document that were drawn: its cells, and the blank rows between them.
#[derive(Default)]
struct Seen {
    cells: Vec<bool>,
    /// At each index: whether the blank rows between the previous cell and this one were drawn.
    gaps: Vec<bool>,
}

impl Seen {
    fn add(&mut self, document: &Document, rows: Range<usize>) {
        self.cells.resize(document.len(), false);
        self.gaps.resize(document.len() + 1, false);
        let (start, end) = (
            document.cells[rows.start].start,
            document.cells[rows.end - 1].end,
        );
        self.cells[start..end].fill(true);
        let is_blank = |row: &usize| document.cells[*row].is_empty();
        let is_hidden = |row: usize, gap: usize| {
            !rows.contains(&row) && is_blank(&row) && document.cells[row].start == gap
        };
        for gap in start..=end {
            let around = rows.start.saturating_sub(3)..(rows.end + 3).min(document.rows.len());
            let is_edge = gap == start || gap == end;
            self.gaps[gap] |= !is_edge || !around.into_iter().any(|row| is_hidden(row, gap));
        }
    }

    fn row_is_drawn(&self, cells: &Range<usize>) -> bool {
        match cells.is_empty() {
            true => self.gaps.get(cells.start).is_some_and(|seen| *seen),
            false => self
                .cells
                .get(cells.clone())
                .is_some_and(|cells| cells.iter().all(|seen| *seen)),
        }
    }

    fn rows_left(&self, document: &Document) -> usize {
        let rows = document.cells.iter();
        rows.filter(|cells| !self.row_is_drawn(cells)).count()
    }
}

/// The rows of a document that a frame shows; several ranges if they look alike.
struct FoundRows {
    version: usize,
    view: usize,
    document: Rc<Document>,
    rows: Vec<Range<usize>>,
}

impl FoundRows {
    fn len(&self) -> usize {
        self.rows.first().map_or(0, Range::len)
    }
}

/// A call as the model wrote it, or as the user edited it.
struct Version {
    call: CallId,
    arguments: Arguments,
    is_edited: bool,
    /// In the readable view, and in the JSON.
    seen: [Seen; 2],
    rows_left: usize,
    drawn_at: Option<Duration>,
}

/// Checks the answers to one question.
#[derive(Default)]
pub struct DrawnCalls {
    versions: Vec<Version>,
    /// The version that the last frame showed.
    shown: Option<usize>,
    /// The version that the last frame offers to run unread, because it has many undrawn rows.
    unread_confirmation: Option<usize>,
    /// Whether the field for that confirmation contains `run`.
    is_run_typed: bool,
    confirmed: Vec<CallId>,
    /// Whether the JSON may be on the screen.
    pub uses_json: bool,
    /// Number of runs by decision, and by the reason why the call was allowed to run.
    pub runs: BTreeMap<&'static str, usize>,
}

impl DrawnCalls {
    /// Records the current arguments of a call.
    pub fn set_arguments(&mut self, call: CallId, arguments: &Arguments, is_edited: bool) {
        let is_known = |known: &Version| {
            let is_same = known.call == call && known.is_edited == is_edited;
            is_same && same_order(&known.arguments, arguments)
        };
        if self.versions.iter().any(is_known) {
            // Its rows that were already drawn still count.
            return;
        }
        self.versions
            .retain(|known| known.call != call || known.is_edited != is_edited);
        self.versions.push(Version {
            call,
            arguments: arguments.clone(),
            is_edited,
            seen: Default::default(),
            rows_left: usize::MAX,
            drawn_at: None,
        });
        self.shown = None;
    }

    /// Finds these rows, or the first of them, in each version and view of the arguments.
    fn find_rows(&self, rows: &[String], columns: u16) -> Vec<FoundRows> {
        let mut found = Vec::new();
        for (version, shown) in self.versions.iter().enumerate() {
            for view in 0..1 + usize::from(self.uses_json) {
                let document = document(&shown.arguments, columns, view == 1);
                let rows = document.find(rows);
                if !rows.is_empty() {
                    found.push(FoundRows {
                        version,
                        view,
                        document,
                        rows,
                    });
                }
            }
        }
        found
    }

    pub fn observe_frame(&mut self, buffer: &Buffer, now: Duration) {
        self.is_run_typed = false;
        if buffer.area.width < READABLE_SIZE_MIN.0 || buffer.area.height < READABLE_SIZE_MIN.1 {
            self.unread_confirmation = None;
            return;
        }
        let mut best: Vec<FoundRows> = Vec::new();
        let mut is_asking = false;
        for dialog in dialog_rows(buffer) {
            // A sidebar may leave the dialog too little room.
            if dialog.columns < READABLE_SIZE_MIN.0 {
                continue;
            }
            let rows: Vec<String> = dialog.rows.iter().map(|row| row.concat()).collect();
            let at = |label| rows.iter().position(|row| row.trim().starts_with(label));
            // Text in the argument editor is not yet the call.
            if at(FIELD_LABEL).is_some() {
                continue;
            }
            if let Some(label) = at(UNREAD_LABEL) {
                is_asking = true;
                let word = rows.get(label + 1).map(|row| row.trim());
                self.is_run_typed = word.is_some_and(|word| word.eq_ignore_ascii_case("run"));
            }
            let body = dialog.rows.iter().position(|row| has_margin(row));
            let body = &rows[body.unwrap_or(rows.len())..];
            best.extend(self.find_rows(body, dialog.columns));
        }
        let longest = best.iter().map(FoundRows::len).max();
        best.retain(|found| Some(found.len()) == longest);
        if !is_asking {
            self.unread_confirmation = None;
        }
        for FoundRows {
            version: index,
            view,
            document,
            rows: found,
        } in best
        {
            let version = &mut self.versions[index];
            if !is_asking || self.unread_confirmation.is_none() {
                self.shown = Some(index);
            }
            if is_asking
                && self.unread_confirmation.is_none()
                && version.rows_left > UNREAD_ROWS_MIN
            {
                self.unread_confirmation = Some(index);
            }
            for rows in found {
                version.seen[view].add(&document, rows);
            }
            version.rows_left = version.seen[view].rows_left(&document);
            if version.rows_left == 0 {
                version.drawn_at = version.drawn_at.or(Some(now));
            }
        }
    }

    /// Whether the shown call has drawn and undrawn rows.
    pub fn is_partly_drawn(&self) -> bool {
        let shown = self.shown.and_then(|shown| self.versions.get(shown));
        shown.is_some_and(|version| (1..usize::MAX).contains(&version.rows_left))
    }

    /// Whether the user has confirmed running a call unread.
    pub fn is_run_confirmed(&self) -> bool {
        !self.confirmed.is_empty()
    }

    /// Records Enter in the field that confirms running a call unread.
    pub fn observe_enter(&mut self) {
        if let (Some(version), true) = (self.unread_confirmation, self.is_run_typed) {
            self.confirmed.push(self.versions[version].call);
        }
    }

    /// # Errors
    /// The answer runs something that was not drawn, or drawn too late to be read.
    pub fn check_answer(&mut self, answer: &UserAnswer, now: Duration) -> Result<(), String> {
        let UserAnswer::Calls(decisions) = answer else {
            return Ok(());
        };
        for (call, decision) in decisions {
            let (edited, how) = match decision {
                Decision::Run => (None, "run"),
                Decision::RunForSession => (None, "for the session"),
                Decision::RunAlways => (None, "always"),
                Decision::RunWholeServer => (None, "the server"),
                Decision::RunReadOnly { .. } => (None, "read-only"),
                Decision::RunMatching { .. } => (None, "matching"),
                Decision::Edit { arguments } => (Some(arguments), "edited"),
                _ => continue,
            };
            let why = self.why_allowed(*call, edited, now)?;
            *self.runs.entry(how).or_default() += 1;
            *self.runs.entry(why).or_default() += 1;
            if decisions.len() > 1 {
                *self.runs.entry("with others").or_default() += 1;
            }
        }
        Ok(())
    }

    fn why_allowed(
        &self,
        call: CallId,
        edited: Option<&Arguments>,
        now: Duration,
    ) -> Result<&'static str, String> {
        let is_wanted = |version: &&Version| {
            version.call == call
                && version.is_edited == edited.is_some()
                && edited.is_none_or(|arguments| same_order(arguments, &version.arguments))
        };
        let Some(version) = self.versions.iter().find(is_wanted) else {
            return Err(format!("{call} runs with unknown arguments: {edited:?}"));
        };
        if self.confirmed.contains(&call) {
            return Ok("unread");
        }
        if version
            .drawn_at
            .is_some_and(|drawn| now >= drawn + QUIET_TIME)
        {
            return Ok("drawn");
        }
        Err(format!(
            "{call} runs at {now:?}, drawn at {:?}, {} rows left: {:?}",
            version.drawn_at, version.rows_left, version.arguments
        ))
    }
}

thread_local! {
    /// Cached documents, keyed by their JSON, width and view.
    static DOCUMENTS: RefCell<HashMap<(String, u16, bool), Rc<Document>>> = RefCell::default();
}

fn document(arguments: &Arguments, columns: u16, as_json: bool) -> Rc<Document> {
    let json = serde_json::to_string(arguments).expect("JSON");
    DOCUMENTS.with_borrow_mut(|documents| {
        if documents.len() > DOCUMENTS_MAX {
            documents.clear();
        }
        let document = documents.entry((json, columns, as_json));
        Rc::clone(document.or_insert_with(|| Rc::new(Document::new(arguments, columns, as_json))))
    })
}

fn same_order(a: &Arguments, b: &Arguments) -> bool {
    serde_json::to_string(a).ok() == serde_json::to_string(b).ok()
}
