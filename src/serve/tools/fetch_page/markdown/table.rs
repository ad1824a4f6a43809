//! Tables. The text of a nested table becomes part of the cell that contains it.

#[derive(Debug, Default)]
struct HtmlTableRow {
    cells: Vec<String>,
    has_header: bool,
}

#[derive(Debug, Default)]
pub struct TableBuilder {
    rows: Vec<HtmlTableRow>,
    /// Open tables inside this one.
    nested: usize,
}

impl TableBuilder {
    pub fn open_nested(&mut self) {
        self.nested += 1;
    }

    /// Closes the innermost table. Returns true if that is the outermost one.
    pub fn close(&mut self) -> bool {
        let is_outermost = self.nested == 0;
        self.nested = self.nested.saturating_sub(1);
        is_outermost
    }

    pub fn start_row(&mut self) {
        if self.nested == 0 {
            self.rows.push(HtmlTableRow::default());
        }
    }

    pub fn start_cell(&mut self, is_header: bool) {
        if self.nested > 0 {
            return;
        }
        if self.rows.is_empty() {
            self.start_row();
        }
        if let Some(row) = self.rows.last_mut() {
            row.cells.push(String::new());
            row.has_header |= is_header;
        }
    }

    /// Adds text to the current cell. A caption, or text before the first cell of a row, becomes a
    /// cell of its own.
    pub fn add_text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.rows.last().is_none_or(|row| row.cells.is_empty()) {
            self.start_cell(false);
        }
        let row = self.rows.last_mut();
        if let Some(cell) = row.and_then(|row| row.cells.last_mut()) {
            if !cell.is_empty() {
                cell.push('\n');
            }
            cell.push_str(text);
        }
    }

    /// A Markdown table, or paragraphs if no row has several cells, as in tables used for layout.
    pub fn to_markdown(&self) -> String {
        let rows = self.rows.iter().filter(|row| !row.cells.is_empty());
        if rows.clone().all(|row| row.cells.len() < 2) {
            let cells = rows.flat_map(|row| &row.cells);
            let texts: Vec<&str> = cells
                .map(String::as_str)
                .filter(|text| !text.is_empty())
                .collect();
            return texts.join("\n\n");
        }
        let mut lines = Vec::new();
        for (index, row) in rows.enumerate() {
            // Markdown requires a header.
            let is_headless = index == 0 && !row.has_header;
            if is_headless {
                lines.push(format!("|{}", "  |".repeat(row.cells.len())));
                lines.push(format!("|{}", " --- |".repeat(row.cells.len())));
            }
            let cells = row.cells.iter().map(|cell| {
                let words: Vec<&str> = cell.split_whitespace().collect();
                format!(" {} |", words.join(" ").replace('|', "\\|"))
            });
            lines.push(format!("|{}", cells.collect::<String>()));
            if index == 0 && !is_headless {
                lines.push(format!("|{}", " --- |".repeat(row.cells.len())));
            }
        }
        lines.join("\n")
    }
}
