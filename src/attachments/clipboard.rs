//! Takes an image from the clipboard with an external program. The program gets no secrets: only
//! the variables that it needs to reach the clipboard.

use super::error::AttachError;
use super::reader;
use crate::domain::attachment::{IMAGE_BYTES_MAX, ReadAttachment};
use crate::text::{WordList, word_list};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

const PROGRAM_TIMEOUT: Duration = Duration::from_secs(3);
/// Base64 needs four bytes for three.
const OUTPUT_BYTES_MAX: u64 = IMAGE_BYTES_MAX / 3 * 4 + 1_024;
const ATTACHMENT_NAME: &str = "clipboard.png";
static VARIABLES: WordList = word_list!("environment", "clipboard");

/// The environment variables that a clipboard program receives. They also decide which program is
/// used.
#[derive(Debug, Clone, Default)]
pub struct ClipboardEnv(Vec<(&'static str, OsString)>);

impl ClipboardEnv {
    /// Selects the variables from the environment of this process.
    pub fn from_process() -> Self {
        Self::new(|name| std::env::var_os(name))
    }

    pub fn new(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = VARIABLES.iter().filter_map(|name| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some((*name, value))
        });
        Self(set.collect())
    }

    fn has(&self, wanted: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == wanted)
    }

    fn programs(&self) -> impl Iterator<Item = &'static ClipboardProgram> {
        let programs = PROGRAMS.iter();
        programs.filter(|program| match program.needs {
            Need::Variable(name) => self.has(name),
            Need::MacOs => cfg!(target_os = "macos"),
        })
    }

    fn install_hint(&self) -> &'static str {
        if cfg!(target_os = "macos") {
            "Install pngpaste (`brew install pngpaste`)."
        } else if self.has("WAYLAND_DISPLAY") {
            "Install wl-clipboard, which contains wl-paste."
        } else if self.has("DISPLAY") {
            "Install xclip."
        } else {
            "Without a desktop, save the image to a file and attach that file."
        }
    }
}

enum Need {
    Variable(&'static str),
    MacOs,
}

/// A program that writes the clipboard's image to standard output.
struct ClipboardProgram {
    name: &'static str,
    arguments: &'static [&'static str],
    needs: Need,
    writes_base64: bool,
}

const POWERSHELL_SCRIPT: &str = "Add-Type -AssemblyName System.Windows.Forms, System.Drawing; \
    $image = [Windows.Forms.Clipboard]::GetImage(); if ($image) { \
    $stream = New-Object IO.MemoryStream; \
    $image.Save($stream, [Drawing.Imaging.ImageFormat]::Png); \
    [Convert]::ToBase64String($stream.ToArray()) }";

const PROGRAMS: [ClipboardProgram; 4] = [
    ClipboardProgram {
        name: "powershell.exe",
        arguments: &["-NoProfile", "-STA", "-Command", POWERSHELL_SCRIPT],
        needs: Need::Variable("WSL_INTEROP"),
        writes_base64: true,
    },
    ClipboardProgram {
        name: "wl-paste",
        arguments: &["--no-newline", "--type", "image/png"],
        needs: Need::Variable("WAYLAND_DISPLAY"),
        writes_base64: false,
    },
    ClipboardProgram {
        name: "xclip",
        arguments: &["-selection", "clipboard", "-t", "image/png", "-o"],
        needs: Need::Variable("DISPLAY"),
        writes_base64: false,
    },
    ClipboardProgram {
        name: "pngpaste",
        arguments: &["-"],
        needs: Need::MacOs,
        writes_base64: false,
    },
];

/// Reads the clipboard's image. Dropping the future kills the program.
///
/// # Errors
/// There is no image, no program to read it, or the program fails.
pub async fn read_clipboard(env: &ClipboardEnv) -> Result<ReadAttachment, AttachError> {
    for program in env.programs() {
        let Some(bytes) = run(program, env).await? else {
            continue;
        };
        // If the clipboard holds no image, the program fails, or writes nothing or an error message.
        let read = reader::attachment(ATTACHMENT_NAME, None, bytes, Path::new(""));
        return match read {
            Ok(read) if read.attachment.is_image() => Ok(read),
            Err(error @ AttachError::TooManyPixels { .. }) => Err(error),
            _ => Err(AttachError::NoImageInClipboard),
        };
    }
    let install_hint = env.install_hint();
    Err(AttachError::NoClipboardProgram { install_hint })
}

/// The output of a program; empty if it exits with an error, and `None` if it is not installed.
async fn run(
    program: &ClipboardProgram,
    env: &ClipboardEnv,
) -> Result<Option<Vec<u8>>, AttachError> {
    let failed = |why: String| AttachError::ClipboardFailed {
        program: program.name,
        why,
    };
    let mut command = Command::new(program.name);
    command
        .args(program.arguments)
        .env_clear()
        .envs(env.0.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result.map_err(|error| failed(error.to_string()))?,
    };
    let Some(stdout) = child.stdout.take() else {
        return Ok(Some(Vec::new()));
    };
    let read = async {
        let mut bytes = Vec::new();
        stdout
            .take(OUTPUT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .await?;
        if bytes.len() as u64 > OUTPUT_BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok::<_, std::io::Error>((bytes, child.wait().await?))
    };
    let (bytes, status) = match timeout(PROGRAM_TIMEOUT, read).await {
        Err(_) => return Err(failed("it took too long".to_owned())),
        Ok(Err(error)) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(failed("the image is too large".to_owned()));
        }
        Ok(result) => result.map_err(|error| failed(error.to_string()))?,
    };
    if !status.success() {
        return Ok(Some(Vec::new()));
    }
    Ok(Some(match program.writes_base64 {
        true => BASE64_STANDARD
            .decode(bytes.trim_ascii())
            .unwrap_or_default(),
        false => bytes,
    }))
}
