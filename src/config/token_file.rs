//! Reads the file with the access token of `humble serve`.

use crate::files;
use std::path::Path;

/// A larger file cannot be a token file.
const TOKEN_FILE_BYTES_MAX: u64 = 4_096;

/// The text of a small regular file, without the byte order mark that some editors write.
///
/// # Errors
/// Why the file cannot be used, as a clause without a period.
pub fn read_token_file(path: &Path) -> Result<String, String> {
    let bytes = files::read(path, TOKEN_FILE_BYTES_MAX).map_err(|error| {
        let why = files::describe_io_error(&error);
        why.trim_end_matches('.').to_owned()
    })?;
    let bytes = bytes.ok_or("it does not exist")?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not text")?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
