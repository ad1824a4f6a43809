//! The text of one paragraph, with its links and emphasis.

/// Deeper marks are ignored, so that reopening them after each paragraph stays cheap.
const OPEN_MARKS_MAX: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    Strong,
    Emphasis,
    Deleted,
    Code,
    Link(String),
}

/// Whitespace is collapsed as in a browser. A `\n` is a line break of the page.
#[derive(Debug, Default)]
pub struct InlineText {
    text: String,
    /// The open marks and where their text begins.
    open: Vec<(Mark, usize)>,
}

impl InlineText {
    pub fn push_text(&mut self, text: &str) {
        for c in text.chars() {
            if !c.is_whitespace() {
                self.text.push(c);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    pub fn push_line_break(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        // An open mark may begin in the spaces.
        let begin = self.open.last().map_or(0, |(_, begin)| *begin);
        self.text.truncate(end.max(begin));
        self.text.push('\n');
    }

    pub fn open(&mut self, mark: Mark) {
        if self.open.len() < OPEN_MARKS_MAX {
            self.open.push((mark, self.text.len()));
        }
    }

    /// Closes the innermost mark of this kind and the marks inside it.
    pub fn close(&mut self, mark: Mark) {
        self.close_to(|open| *open == mark);
    }

    pub fn close_link(&mut self) {
        self.close_to(|open| matches!(open, Mark::Link(_)));
    }

    fn close_to(&mut self, is_wanted: impl Fn(&Mark) -> bool) {
        if let Some(index) = self.open.iter().rposition(|(mark, _)| is_wanted(mark)) {
            while self.open.len() > index {
                self.close_innermost();
            }
        }
    }

    fn close_innermost(&mut self) {
        let Some((mark, begin)) = self.open.pop() else {
            return;
        };
        let content = self.text.split_off(begin);
        let trimmed = content.trim();
        if trimmed.is_empty() {
            self.text.push_str(&content);
            return;
        }
        let offset = content.len() - content.trim_start().len();
        self.text.push_str(&content[..offset]);
        match mark {
            Mark::Strong => self.wrap("**", trimmed, "**"),
            Mark::Emphasis => self.wrap("*", trimmed, "*"),
            Mark::Deleted => self.wrap("~~", trimmed, "~~"),
            Mark::Code => {
                let fence = if trimmed.contains('`') { "``" } else { "`" };
                self.wrap(fence, trimmed, fence);
            }
            Mark::Link(url) => self.wrap("[", trimmed, &format!("]({url})")),
        }
        self.text.push_str(&content[offset + trimmed.len()..]);
    }

    fn wrap(&mut self, before: &str, text: &str, after: &str) {
        self.text.push_str(before);
        self.text.push_str(text);
        self.text.push_str(after);
    }

    /// Returns the paragraph and starts the next, in which the open marks continue.
    pub fn take(&mut self) -> String {
        let marks: Vec<Mark> = self.open.iter().map(|(mark, _)| mark.clone()).collect();
        while !self.open.is_empty() {
            self.close_innermost();
        }
        self.open = marks.into_iter().map(|mark| (mark, 0)).collect();
        let text = std::mem::take(&mut self.text);
        text.trim().to_owned()
    }
}
