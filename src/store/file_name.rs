//! Session file names, made of a time, usually that of the first answer, and the start of the first
//! prompt.

use crate::domain::SessionId;
use crate::text::grapheme;
use crate::text::invisible::Invisible;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Maximum number of grapheme clusters of the prompt in a name.
const PROMPT_CLUSTERS_MAX: usize = 10;
/// Maximum number of bytes of the prompt in a name. With the time, `_99999` and `.json`, names
/// stay below the usual file system limit of 255 bytes.
const PROMPT_BYTES_MAX: usize = 220;
const EXTENSION: &str = ".json";
const NAME_BYTES_MAX: usize = 255;
const TIME_FORMAT: &str = "%Y%m%d_%H%M%S";

/// The file name of a conversation whose first answer ended at `ended_at`, such as
/// `20251016_162030_대화_제목_이다.json`.
pub fn session_file_name(first_prompt: &str, ended_at: &Zoned) -> String {
    format!("{}{EXTENSION}", stem(first_prompt, ended_at))
}

pub(super) fn candidates(first_prompt: &str, ended_at: &Zoned) -> impl Iterator<Item = String> {
    let stem = stem(first_prompt, ended_at);
    (1..=99_999).map(move |number| match number {
        1 => format!("{stem}{EXTENSION}"),
        _ => format!("{stem}_{number}{EXTENSION}"),
    })
}

/// Whether `id` is a plain file name that is safe inside the sessions folder.
pub(super) fn is_valid(id: &SessionId) -> bool {
    let name = id.as_str();
    name.ends_with(EXTENSION)
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && (cfg!(unix) || !name.contains(':'))
}

/// Parses the local time at the beginning of a name.
pub(super) fn time_in_name(id: &SessionId) -> Option<Timestamp> {
    let (time, rest) = id.as_str().split_at_checked("YYYYMMDD_HHMMSS".len())?;
    let has_shape = time.bytes().enumerate().all(|(at, byte)| match at {
        8 => byte == b'_',
        _ => byte.is_ascii_digit(),
    });
    if !has_shape || !rest.starts_with(['_', '.']) {
        return None;
    }
    let local = DateTime::strptime(TIME_FORMAT, time).ok()?;
    Some(local.to_zoned(TimeZone::system()).ok()?.timestamp())
}

fn stem(first_prompt: &str, ended_at: &Zoned) -> String {
    let time = ended_at.strftime(TIME_FORMAT);
    let mut text = String::new();
    for cluster in grapheme::clusters(first_prompt).take(PROMPT_CLUSTERS_MAX) {
        let portable = portable_cluster(cluster);
        if text.len() + portable.len() > PROMPT_BYTES_MAX {
            // A single cluster can be arbitrarily long; truncate it.
            let bytes_left = PROMPT_BYTES_MAX - text.len();
            text.push_str(&portable[..portable.floor_char_boundary(bytes_left)]);
            break;
        }
        text.push_str(&portable);
    }
    let leading_dots = text.len() - text.trim_start_matches('.').len();
    format!(
        "{time}_{}{}",
        "_".repeat(leading_dots),
        &text[leading_dots..]
    )
}

/// Replaces the characters of a cluster that are invisible or not portable in file names with
/// `_`.
fn portable_cluster(cluster: &str) -> String {
    if cluster == "\r\n" {
        return "_".to_owned();
    }
    let is_flag = cluster.starts_with('\u{1F3F4}');
    let mut chars = cluster.chars().peekable();
    let mut portable = String::with_capacity(cluster.len());
    while let Some(character) = chars.next() {
        let is_kept = match character {
            // A joiner inside a cluster is part of the emoji or letter; a trailing one is
            // invisible.
            '\u{200C}' | '\u{200D}' => !portable.is_empty() && chars.peek().is_some(),
            '\u{E0020}'..='\u{E007F}' => is_flag,
            _ => is_portable(character),
        };
        portable.push(if is_kept { character } else { '_' });
    }
    portable
}

fn is_portable(character: char) -> bool {
    // U+FE0F only selects the emoji style, so it cannot deceive.
    let is_visible = matches!(
        Invisible::classify(character),
        None | Some(Invisible::StyleSelector)
    );
    let is_reserved = matches!(
        character,
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|'
    );
    is_visible && !is_reserved && !character.is_whitespace()
}
