//! The Markdown document: blocks, and the lists and quotes around them.

/// Maximum size of the document.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// Deeper lists and quotes are not indented further, so that prefixes stay short.
const CONTAINERS_MAX: usize = 12;

#[derive(Debug)]
pub enum OutputContainer {
    Quote,
    /// A list and the number of its next item, if it is numbered.
    List {
        next: Option<u64>,
    },
    /// An item and its marker; the marker is written only once.
    Item {
        marker: String,
        is_written: bool,
    },
}

#[derive(Debug, Default)]
pub struct Output {
    text: String,
    containers: Vec<OutputContainer>,
    /// Containers beyond the maximum.
    ignored: usize,
    /// The heading level of the next block; 0 if it is not a heading.
    heading: usize,
    /// The last block was in an item, after which the next item needs no blank line.
    is_after_item: bool,
    /// Number of quotes around the last block.
    last_quote_count: usize,
}

impl Output {
    pub fn is_full(&self) -> bool {
        self.text.len() >= OUTPUT_BYTES_MAX
    }

    /// Makes the next block that is not blank a heading; 0 makes it a paragraph.
    pub fn set_heading(&mut self, level: usize) {
        self.heading = level;
    }

    pub fn open(&mut self, container: OutputContainer) {
        if self.containers.len() < CONTAINERS_MAX {
            self.containers.push(container);
        } else {
            self.ignored += 1;
        }
    }

    /// Opens an item of the innermost list, and closes an earlier one that is still open.
    pub fn open_item(&mut self) {
        self.close_item();
        let number = match self.containers.last_mut() {
            Some(OutputContainer::List { next: Some(next) }) => {
                let number = *next;
                *next = next.saturating_add(1);
                Some(number)
            }
            _ => None,
        };
        let marker = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
        self.open(OutputContainer::Item {
            marker,
            is_written: false,
        });
    }

    /// Closes the open item of the innermost list.
    pub fn close_item(&mut self) {
        if self.ignored > 0 {
            self.ignored -= 1;
            return;
        }
        let is_list =
            |container: &OutputContainer| matches!(container, OutputContainer::List { .. });
        let list = self.containers.iter().rposition(is_list);
        let begin = list.map_or(0, |list| list + 1);
        let is_item =
            |container: &OutputContainer| matches!(container, OutputContainer::Item { .. });
        if let Some(item) = self.containers[begin..].iter().position(is_item) {
            self.containers.truncate(begin + item);
        }
    }

    pub fn close_list(&mut self) {
        self.close_from(|container| matches!(container, OutputContainer::List { .. }));
    }

    pub fn close_quote(&mut self) {
        self.close_from(|container| matches!(container, OutputContainer::Quote));
    }

    /// Closes the innermost matching container and those inside it.
    fn close_from(&mut self, is_wanted: fn(&OutputContainer) -> bool) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else if let Some(index) = self.containers.iter().rposition(is_wanted) {
            self.containers.truncate(index);
        }
    }

    /// Adds a paragraph, or a heading after [`Self::set_heading`]. Blank text adds nothing.
    pub fn add_block(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match std::mem::take(&mut self.heading) {
            0 => self.add_lines(text),
            // A heading is one line.
            level => self.add_lines(&format!(
                "{} {}",
                "#".repeat(level),
                text.replace('\n', " ")
            )),
        }
    }

    /// Adds a code block whose fence is longer than any in the code.
    pub fn add_code(&mut self, code: &str, language: &str) {
        let code = code.trim_matches('\n').trim_end();
        if code.trim().is_empty() {
            return;
        }
        let mut longest = 0;
        let mut run = 0;
        for c in code.chars() {
            run = if c == '`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat((longest + 1).max(3));
        self.add_lines(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    /// Adds a block of lines as they are, within the open containers.
    pub fn add_lines(&mut self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        let starts_item = self.has_unwritten_item();
        if !self.text.is_empty() {
            let is_tight = starts_item && self.is_after_item;
            if !is_tight {
                let prefix = self.prefix(true);
                // The blank line before a quote is not part of it.
                let quotes = self.quote_count();
                if quotes <= self.last_quote_count {
                    self.text.push_str(prefix.trim_end());
                }
                self.text.push('\n');
            }
        }
        for (index, line) in lines.lines().enumerate() {
            let prefix = self.prefix(index > 0);
            let row = format!("{prefix}{line}");
            self.text.push_str(row.trim_end());
            self.text.push('\n');
            if self.is_full() {
                let end = self.text.floor_char_boundary(OUTPUT_BYTES_MAX);
                self.text.truncate(end);
                return;
            }
        }
        let is_item =
            |container: &OutputContainer| matches!(container, OutputContainer::Item { .. });
        self.last_quote_count = self.quote_count();
        self.is_after_item = self.containers.last().is_some_and(is_item);
    }

    fn quote_count(&self) -> usize {
        let is_quote = |container: &&OutputContainer| matches!(container, OutputContainer::Quote);
        self.containers.iter().filter(is_quote).count()
    }

    fn has_unwritten_item(&self) -> bool {
        self.containers.iter().any(|container| {
            matches!(
                container,
                OutputContainer::Item {
                    is_written: false,
                    ..
                }
            )
        })
    }

    /// The start of a line. Markers of items are written once; `is_continued` lines and later
    /// blocks have spaces instead.
    fn prefix(&mut self, is_continued: bool) -> String {
        let mut prefix = String::new();
        for container in &mut self.containers {
            match container {
                OutputContainer::Quote => prefix.push_str("> "),
                OutputContainer::List { .. } => {}
                OutputContainer::Item { marker, is_written } if *is_written || is_continued => {
                    prefix.extend(marker.chars().map(|_| ' '));
                }
                OutputContainer::Item { marker, is_written } => {
                    prefix.push_str(marker);
                    *is_written = true;
                }
            }
        }
        prefix
    }

    pub fn finish(self) -> String {
        self.text
    }
}
