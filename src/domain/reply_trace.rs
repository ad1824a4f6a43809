//! A diagnostic view of the last answer: the stream of each reply, the pieces it was split
//! into, and the outcomes of its calls.

/// One line of the trace. An entry may span several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    pub kind: TraceKind,
    /// Whether the line starts an entry, as opposed to continuing the previous line.
    pub starts_entry: bool,
    /// Unsanitized.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// The start of a reply or of a section about it.
    Heading,
    Text,
    Thinking,
    /// Hidden tags, fences and separators.
    Markup,
    Call,
    InvalidCall,
    /// A remark on the previous line.
    Note,
}

impl TraceKind {
    /// The label before the text.
    pub fn label(self) -> &'static str {
        match self {
            Self::Heading | Self::Note => "",
            Self::Text => "text",
            Self::Thinking => "think",
            Self::Markup => "mark",
            Self::Call => "call",
            Self::InvalidCall => "bad",
        }
    }
}

impl TraceLine {
    /// The line with its label.
    pub fn to_text(&self) -> String {
        let label = if self.starts_entry {
            self.kind.label()
        } else {
            ""
        };
        match self.kind {
            TraceKind::Heading => self.text.clone(),
            _ => format!("{label:<5} {}", self.text),
        }
    }
}

/// All lines with their labels, for the clipboard.
pub fn join_lines(lines: &[TraceLine]) -> String {
    let lines: Vec<String> = lines.iter().map(TraceLine::to_text).collect();
    lines.join("\n")
}
