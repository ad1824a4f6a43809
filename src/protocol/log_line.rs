//! One line for the log pane.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub level: tracing::Level,
    pub text: String,
}
