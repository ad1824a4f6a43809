//! Saves the images and sounds of tool results as files that the user can open. Their paths are
//! not sent to the model. Blocks.

use crate::files;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const RESULT_FILES_MAX: usize = 10;
/// Maximum total size of the data of one result, in Base64 characters.
const RESULT_BASE64_BYTES_MAX: usize = 64 << 20;
/// Maximum number of files in the folder; the oldest ones are deleted.
const FOLDER_FILES_MAX: usize = 100;
const NAME_HASH_BYTES: usize = 8;
/// The media types that are saved, with the extension of their files. A server cannot choose
/// another extension, which could make the file a program.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("audio/webm", "weba"),
];

/// Saves the images and sounds in a raw result of `tools/call`, embedded resources included.
/// Returns the paths of those that could be saved. The same data is saved once.
pub fn save_result_media(result: &Value, folder: &Path) -> Vec<PathBuf> {
    let items = result.get("content").and_then(Value::as_array);
    let mut bytes_left = RESULT_BASE64_BYTES_MAX;
    let mut saved = Vec::new();
    for (media_type, data) in items.into_iter().flatten().filter_map(media) {
        let Some(extension) = extension(media_type) else {
            continue;
        };
        if saved.len() >= RESULT_FILES_MAX || data.len() > bytes_left {
            break;
        }
        bytes_left -= data.len();
        let Ok(bytes) = BASE64_STANDARD.decode(data) else {
            continue;
        };
        match save(&bytes, extension, folder) {
            Ok(path) if !saved.contains(&path) => saved.push(path),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!("a file of a tool result could not be saved: {error}");
                break;
            }
        }
    }
    if !saved.is_empty() {
        delete_old_files(folder);
    }
    saved
}

/// The media type and the Base64 data of an image or a sound.
fn media(item: &Value) -> Option<(&str, &str)> {
    let holder = match item.get("type")?.as_str()? {
        "image" | "audio" => item,
        "resource" => item.get("resource")?,
        _ => return None,
    };
    let data = holder.get("data").or_else(|| holder.get("blob"))?;
    Some((holder.get("mimeType")?.as_str()?, data.as_str()?))
}

fn extension(media_type: &str) -> Option<&'static str> {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    let mut known = MEDIA_TYPES.iter();
    let found = known.find(|(name, _)| name.eq_ignore_ascii_case(media_type));
    found.map(|(_, extension)| *extension)
}

fn save(bytes: &[u8], extension: &str, folder: &Path) -> io::Result<PathBuf> {
    files::create_folder(folder)?;
    let hash = Sha256::digest(bytes);
    let name: String = hash[..NAME_HASH_BYTES]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let path = folder.join(format!("{name}.{extension}"));
    match files::create_new(&path, bytes, files::PRIVATE_MODE) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(path),
        created => created.map(|()| path),
    }
}

fn delete_old_files(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    let excess = found.len().saturating_sub(FOLDER_FILES_MAX);
    for (_, path) in found.into_iter().take(excess) {
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!("{} could not be deleted: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn extensions(paths: &[PathBuf]) -> Vec<String> {
        let extension = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy();
            name.rsplit_once('.').expect("an extension").1.to_owned()
        };
        paths.iter().map(extension).collect()
    }

    #[test]
    fn images_and_sounds_are_saved_once_with_a_known_extension() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("results");
        let result = json!({ "content": [
            { "type": "text", "text": "two" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "audio", "mimeType": "Audio/WAV; rate=8000", "data": "AAEC" },
            { "type": "resource", "resource": { "uri": "x:", "mimeType": "image/gif", "blob": "AQID" } },
            { "type": "resource", "resource": { "uri": "x:", "mimeType": "text/csv", "blob": "AAAA" } },
            { "type": "image", "mimeType": "image/../../sh", "data": "AAAA" },
            { "type": "image", "mimeType": "image/svg+xml", "data": "AAAA" },
            { "type": "image", "mimeType": "image/png", "data": "not Base64" },
        ] });
        let saved = save_result_media(&result, &folder);
        assert_eq!(extensions(&saved), ["png", "wav", "gif"]);
        assert_eq!(fs::read(&saved[1]).expect("a file"), [0, 1, 2]);
        assert_eq!(
            save_result_media(&result, &folder),
            saved,
            "the same data again"
        );
        let text = json!({ "content": [{ "type": "text", "text": "x" }] });
        let nowhere = folder.join("unused");
        assert!(save_result_media(&text, &nowhere).is_empty() && !nowhere.exists());
    }

    #[test]
    fn number_of_files_per_result_and_per_folder_is_limited() {
        let folder = tempfile::tempdir().expect("a folder");
        let image = |n: usize| {
            let data = BASE64_STANDARD.encode(n.to_le_bytes());
            json!({ "type": "image", "mimeType": "image/png", "data": data })
        };
        for start in (0..200).step_by(20) {
            let images: Vec<Value> = (start..start + 20).map(image).collect();
            let saved = save_result_media(&json!({ "content": images }), folder.path());
            assert_eq!(saved.len(), RESULT_FILES_MAX);
        }
        save_result_media(&json!({ "content": [image(999)] }), folder.path());
        let count = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(count, FOLDER_FILES_MAX);
    }
}
