//! A diagnostic view of the last answer: the stream of each reply, the pieces it was split
//! into, and what became of its calls.

/// One line; longer ones continue on the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    pub sort: TraceSort,
    /// Starts an entry, as opposed to continuing the previous line.
    pub begins: bool,
    /// Raw.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceSort {
    /// The start of a reply or of a section about it.
    Heading,
    Text,
    Thinking,
    /// Hidden tags, fences and separators.
    Mark,
    Call,
    /// An invalid call.
    Unusable,
    /// A remark on the previous line.
    Note,
}

impl TraceSort {
    /// The label before the text.
    pub fn label(self) -> &'static str {
        match self {
            Self::Heading | Self::Note => "",
            Self::Text => "text",
            Self::Thinking => "think",
            Self::Mark => "mark",
            Self::Call => "call",
            Self::Unusable => "bad",
        }
    }
}

impl TraceLine {
    /// The line with its label.
    pub fn words(&self) -> String {
        let label = if self.begins { self.sort.label() } else { "" };
        match self.sort {
            TraceSort::Heading => self.text.clone(),
            _ => format!("{label:<5} {}", self.text),
        }
    }
}

/// All lines as text for the clipboard.
pub fn words(lines: &[TraceLine]) -> String {
    let lines: Vec<String> = lines.iter().map(TraceLine::words).collect();
    lines.join("\n")
}
