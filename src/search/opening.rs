//! Opening an index, and replacing one that turns out to be damaged.

use super::vectors::VectorCache;
use super::{Index, PrefixLookup, SearchError, schema};
use rusqlite::{Connection, ErrorCode};
use std::path::Path;

/// SQLite has no error code for some kinds of damage; these texts occur in its errors about them.
const DAMAGE_TEXTS: [&str; 3] = ["malformed", "vtable constructor failed", "no such table"];

impl Index {
    /// Opens the index. A damaged or outdated one is replaced by an empty one.
    ///
    /// # Errors
    /// The file or its folder cannot be written, or another program holds it for over 5 s.
    pub fn open(path: &Path) -> Result<Self, SearchError> {
        Self::open_with(path, PrefixLookup::Scan)
    }

    /// Like [`Self::open`]. An index that has the other kind of prefix lookup is also replaced by
    /// an empty one.
    pub fn open_with(path: &Path, prefixes: PrefixLookup) -> Result<Self, SearchError> {
        Ok(Self {
            path: Some(path.to_path_buf()),
            prefixes,
            connection: schema::open(path, prefixes)?,
            vectors: VectorCache::default(),
        })
    }

    /// An empty index that is not stored.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn in_memory() -> Result<Self, SearchError> {
        let prefixes = PrefixLookup::Scan;
        Ok(Self {
            path: None,
            prefixes,
            connection: schema::open_in_memory(prefixes)?,
            vectors: VectorCache::default(),
        })
    }

    pub fn is_in_memory(&self) -> bool {
        self.path.is_none()
    }

    /// Replaces a damaged index with an empty one.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn clear(&mut self) -> Result<(), SearchError> {
        self.vectors.clear();
        // Closed first: closing it later would delete the log of its successor.
        self.connection = Connection::open_in_memory()?;
        self.connection = match &self.path {
            Some(path) => {
                schema::remove(path)?;
                schema::open(path, self.prefixes)?
            }
            None => schema::open_in_memory(self.prefixes)?,
        };
        Ok(())
    }
}

impl SearchError {
    /// Whether the index is damaged, so that [`Index::clear`] helps.
    pub fn is_damage(&self) -> bool {
        use rusqlite::Error;
        let Self::Database(error) = self else {
            return false;
        };
        match error {
            // Values that this program never writes.
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..) => true,
            error => {
                let text = error.to_string();
                schema::is_damaged(error)
                    || error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
                    || DAMAGE_TEXTS.iter().any(|damage| text.contains(damage))
            }
        }
    }

    /// Whether the file cannot be created or written, for example because the disk is full.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::Io(_) => true,
            Self::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::ReadOnly
                        | ErrorCode::DiskFull
                        | ErrorCode::CannotOpen
                        | ErrorCode::SystemIoFailure
                )
            ),
            _ => false,
        }
    }
}
