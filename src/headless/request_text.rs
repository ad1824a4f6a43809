//! The text of a server's request on the terminal. Its rows are wrapped here, so that each row of the
//! server's own text carries a mark, and printed page by page, so that none scrolls by unread.

use super::tty_pages::print_pages;
use super::tty_reader::TtyReader;
use crate::text::Clean;
use crate::text::wrap::wrap_line;
use std::num::NonZeroU16;

const QUOTE_MARK: &str = "  | ";
const QUOTE_MARK_COLUMNS: u16 = 4;

pub(super) struct RequestText {
    rows: Vec<String>,
    columns: u16,
}

impl RequestText {
    pub fn new(tty: &TtyReader) -> Self {
        Self {
            rows: Vec::new(),
            columns: tty.columns(),
        }
    }

    /// Adds text that is not the server's.
    pub fn add(&mut self, text: &str) {
        self.add_wrapped(text, "", self.columns);
    }

    /// Adds text of the server.
    pub fn add_quote(&mut self, text: &str) {
        let columns = self.columns.saturating_sub(QUOTE_MARK_COLUMNS);
        for line in Clean::unambiguous(text).as_str().lines() {
            self.add_wrapped(line, QUOTE_MARK, columns);
        }
    }

    fn add_wrapped(&mut self, line: &str, mark: &str, columns: u16) {
        let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        let rows = wrap_line(line, columns);
        let rows = rows.into_iter().map(|row| format!("{mark}{}", &line[row]));
        self.rows.extend(rows);
    }

    /// Prints the text. Returns false if the user refused the request before its end.
    pub async fn show(self, tty: &TtyReader) -> bool {
        print_pages(tty, &self.rows.join("\n")).await
    }
}
