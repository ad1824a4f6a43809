//! Why a file cannot be imported. No message repeats the contents of the file, which may be secret.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("{} does not exist.", path.display())]
    Missing { path: PathBuf },
    #[error("{} cannot be read: {why}.", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{} is larger than {} MiB, the limit for an import.", path.display(), bytes_max >> 20)]
    TooLarge { path: PathBuf, bytes_max: u64 },
    #[error("{} has more than {count_max} values, the limit for an import.", path.display())]
    TooManyValues { path: PathBuf, count_max: usize },
    #[error("{} is not a UTF-8 text file.", path.display())]
    NotText { path: PathBuf },
    #[error("{}, line {line}: not valid {format}: {problem}.", path.display())]
    Malformed {
        path: PathBuf,
        line: usize,
        format: &'static str,
        problem: String,
    },
    #[error("{} lists no MCP servers in the format of a supported client.", path.display())]
    NoServers { path: PathBuf },
    #[error("{} lists {count} servers; at most {count_max} can be imported from a file.", path.display())]
    TooManyServers {
        path: PathBuf,
        count: usize,
        count_max: usize,
    },
}
