//! The tables of the index, and opening and removing its files.

use super::SearchError;
use crate::files;
use rusqlite::{Connection, ErrorCode};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How beginnings of words are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixLookup {
    /// By going through all words with that beginning. Beginnings that very many words share take over 100 ms.
    Scan,
    /// Beginnings of one, three and four letters have an index of their own. In 10,000 sessions they take
    /// at most 50 ms, but the file is twice as large and takes nearly twice as long to build.
    Indexed,
}

impl PrefixLookup {
    /// Indexes of other versions are deleted and built again.
    fn version(self) -> i64 {
        match self {
            Self::Scan => 2,
            Self::Indexed => 3,
        }
    }

    fn full_text_option(self) -> &'static str {
        match self {
            Self::Scan => "",
            Self::Indexed => "prefix = '1 3 4',",
        }
    }
}

/// The longest wait for another program that writes to the index.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// `terms` holds no text of its own. `porter` stems English words; `unicode61` ignores case and
/// accents.
fn tables(prefixes: PrefixLookup) -> String {
    let prefix_option = prefixes.full_text_option();
    format!(
        "
    CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        size INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL,
        details TEXT NOT NULL
    );
    CREATE TABLE chunk (
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL,
        heading TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX chunk_document ON chunk (document);
    CREATE TABLE vector (chunk INTEGER PRIMARY KEY, components BLOB NOT NULL);
    CREATE TABLE embedding (model TEXT NOT NULL, dimensions INTEGER);
    CREATE VIRTUAL TABLE terms USING fts5 (
        title, title_pairs, body, body_pairs,
        content = '', contentless_delete = 1, {prefix_option}
        tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO terms (terms, rank) VALUES ('rank', 'bm25(4.0, 3.0, 1.0, 1.0)');
"
    )
}

/// Opens the index, creating it if it is missing, damaged or of another version.
pub fn open(path: &Path, prefixes: PrefixLookup) -> Result<Connection, SearchError> {
    if let Some(folder) = path.parent() {
        files::create_folder(folder)?;
    }
    match try_open(path, prefixes) {
        Err(SearchError::Database(error)) if is_damaged(&error) => {
            remove(path)?;
            try_open(path, prefixes)
        }
        opened => opened,
    }
}

/// An index without a file.
pub fn open_in_memory(prefixes: PrefixLookup) -> Result<Connection, SearchError> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(&tables(prefixes))?;
    Ok(connection)
}

fn try_open(path: &Path, prefixes: PrefixLookup) -> Result<Connection, SearchError> {
    // SQLite would create the file readable by everyone.
    drop(files::open_append(path, files::PRIVATE_MODE)?);
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    use_write_ahead_log(&connection)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    // Only creating the tables waits for other programs that write.
    let expected = prefixes.version();
    if version(&connection)? == expected {
        return Ok(connection);
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    match version(&transaction)? {
        found if found == expected => {}
        0 => {
            transaction.execute_batch(&tables(prefixes))?;
            transaction.pragma_update(None, "user_version", expected)?;
        }
        _ => return Err(outdated()),
    }
    transaction.commit()?;
    Ok(connection)
}

/// Lets readers and one writer work without waiting for each other.
///
/// SQLite does not wait for other programs here, whatever the busy timeout is.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The error for an index of another version, which [`open`] replaces like a damaged one.
fn outdated() -> SearchError {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
        None,
    )
    .into()
}

/// Whether the error means that the file is damaged, has another version or is not a database.
pub fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Removes the files of an index.
pub fn remove(path: &Path) -> Result<(), SearchError> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
