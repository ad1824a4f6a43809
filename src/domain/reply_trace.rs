//! What the last answer was made of, for whoever wants to know why it came out so: the
//! stream of each reply, the pieces it was cut into, and what became of its calls.

/// One line of it; a longer one goes on in the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    pub kind: TraceKind,
    /// It begins something; else it goes on with the line before.
    pub starts_entry: bool,
    /// Raw.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// Where a reply, or a part of what is told of it, begins.
    Heading,
    Text,
    Thinking,
    /// Tags, fences and separators, which are not shown.
    Markup,
    Call,
    /// A call that cannot be used.
    InvalidCall,
    /// What is to be said of the line before.
    Note,
}

impl TraceKind {
    /// As it stands before its text.
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

/// All lines, for copying.
pub fn join_lines(lines: &[TraceLine]) -> String {
    let lines: Vec<String> = lines.iter().map(TraceLine::to_text).collect();
    lines.join("\n")
}
