//! Every way in which a model server fails.

/// See S5.10 for the words a person gets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("(being written)")]
    Placeholder,
}
