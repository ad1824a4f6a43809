//! Clipboard programs, and the terminal's own clipboard (OSC 52). A program is preferred, because
//! its exit status shows whether it worked. Over SSH none is used: it would fill the clipboard of the
//! wrong computer.

use crate::text::{WordList, word_list};
use crate::tui::clipboard::{CopyMethod, CopyReport, CopyRequest, TERMINAL_BYTES_MAX};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

const PROGRAM_TIMEOUT: Duration = Duration::from_secs(2);
/// The variables that clipboard programs need. They get no others, which may hold secrets.
static VARIABLES: WordList = word_list!("environment", "clipboard");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClipboardProgram {
    name: &'static str,
    arguments: &'static [&'static str],
    takes_utf16: bool,
}

const fn program(name: &'static str, arguments: &'static [&'static str]) -> ClipboardProgram {
    ClipboardProgram {
        name,
        arguments,
        takes_utf16: false,
    }
}

const PBCOPY: ClipboardProgram = program("pbcopy", &[]);
const WL_COPY: ClipboardProgram = program("wl-copy", &["--type", "text/plain"]);
const XCLIP: ClipboardProgram = program("xclip", &["-selection", "clipboard", "-in"]);
const XSEL: ClipboardProgram = program("xsel", &["--clipboard", "--input"]);
const CLIP_EXE: ClipboardProgram = ClipboardProgram {
    takes_utf16: true,
    ..program("clip.exe", &[])
};

/// Loads the buffer of tmux. With `-w`, tmux 3.2 and newer also sends it to the terminal, even where
/// its option `set-clipboard` discards the sequences of programs.
const TMUX: ClipboardProgram = program("tmux", &["load-buffer", "-w", "-"]);
/// For texts that are too long for terminals.
const TMUX_BUFFER_ONLY: ClipboardProgram = program("tmux", &["load-buffer", "-"]);

#[derive(Debug, Clone, PartialEq, Eq)]
struct ClipboardEnvironment {
    /// Programs that may work here, most suitable first. Not all of them need to be installed.
    programs: Vec<ClipboardProgram>,
    is_tmux: bool,
}

impl ClipboardEnvironment {
    fn detect() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let is_remote = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"]
            .into_iter()
            .any(has);
        let candidates = [
            (cfg!(target_os = "macos"), PBCOPY),
            (has("WAYLAND_DISPLAY"), WL_COPY),
            (has("DISPLAY"), XCLIP),
            (has("DISPLAY"), XSEL),
            (has("WSL_DISTRO_NAME") || has("WSL_INTEROP"), CLIP_EXE),
        ];
        let usable = candidates
            .into_iter()
            .filter(|(fits, _)| *fits && !is_remote);
        Self {
            programs: usable.map(|(_, program)| program).collect(),
            is_tmux: has("TMUX"),
        }
    }

    /// Tries the programs in turn, then tmux, then the terminal.
    async fn copy(self, request: CopyRequest) -> FinishedCopy {
        let mut failed = None;
        for program in &self.programs {
            match run(program, &request.text).await {
                Ok(()) => {
                    let method = CopyMethod::Program(program.name);
                    return FinishedCopy {
                        report: CopyReport::new(&request, method),
                        sequence: Vec::new(),
                    };
                }
                Err(RunError::NotInstalled) => {}
                Err(RunError::Failed(why)) => failed = Some((program.name, why)),
            }
        }
        if self.is_tmux {
            let tmux = match request.text.len() {
                ..=TERMINAL_BYTES_MAX => &TMUX,
                _ => &TMUX_BUFFER_ONLY,
            };
            // If this fails, use OSC 52: an older tmux forwards it to the terminal if configured to.
            if run(tmux, &request.text).await.is_ok() {
                return FinishedCopy {
                    report: CopyReport::new(&request, CopyMethod::Tmux),
                    sequence: Vec::new(),
                };
            }
        }
        self.send_to_terminal(&request, failed)
    }

    fn send_to_terminal(
        &self,
        request: &CopyRequest,
        failed_program: Option<(&'static str, String)>,
    ) -> FinishedCopy {
        let (method, sequence) = match request.text.len() {
            ..=TERMINAL_BYTES_MAX => {
                let is_tmux = self.is_tmux;
                let encoded = BASE64_STANDARD.encode(&request.text);
                let sequence = format!("\x1b]52;c;{encoded}\x1b\\").into_bytes();
                (CopyMethod::Terminal { is_tmux }, sequence)
            }
            _ => (CopyMethod::None, Vec::new()),
        };
        let report = CopyReport {
            failed_program,
            ..CopyReport::new(request, method)
        };
        FinishedCopy { report, sequence }
    }
}

/// The clipboard programs that may work here, most suitable first. Not all of them need to be
/// installed.
pub fn program_names() -> Vec<&'static str> {
    let programs = ClipboardEnvironment::detect().programs;
    programs.iter().map(|program| program.name).collect()
}

/// A copy that is complete once `sequence` has been written to the terminal.
#[derive(Debug)]
pub struct FinishedCopy {
    pub report: CopyReport,
    pub sequence: Vec<u8>,
}

/// Runs one copy at a time; a newer one replaces it and kills its program.
#[derive(Default)]
pub struct Clipboard {
    running: Option<Pin<Box<dyn Future<Output = FinishedCopy>>>>,
}

impl Clipboard {
    pub fn start(&mut self, request: CopyRequest) {
        self.running = Some(Box::pin(ClipboardEnvironment::detect().copy(request)));
    }

    /// Polls the running copy. Stays pending while there is none.
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<FinishedCopy> {
        let Some(copy) = &mut self.running else {
            return Poll::Pending;
        };
        let finished = ready!(copy.as_mut().poll(context));
        self.running = None;
        Poll::Ready(finished)
    }
}

#[derive(Debug)]
enum RunError {
    NotInstalled,
    Failed(String),
}

async fn run(program: &ClipboardProgram, text: &str) -> Result<(), RunError> {
    let failed = |error: std::io::Error| RunError::Failed(error.to_string());
    let variables = VARIABLES
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(program.name);
    command
        .args(program.arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        // Some programs keep running to serve the clipboard and would keep pipes open.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // They must also survive Ctrl+Z and the closing of the terminal.
        .process_group(0)
        .kill_on_drop(true);
    if program.name == PBCOPY.name {
        command.env("LC_CTYPE", "UTF-8");
    }
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => RunError::NotInstalled,
        _ => failed(error),
    })?;
    let input = match program.takes_utf16 {
        true => utf16_with_mark(text),
        false => text.as_bytes().to_vec(),
    };
    let copy = async {
        let written = match child.stdin.take() {
            Some(mut stdin) => stdin.write_all(&input).await,
            None => Ok(()),
        };
        // A program that fails may exit before it has read everything.
        let status = child.wait().await?;
        if status.success() {
            written?;
        }
        Ok(status)
    };
    match timeout(PROGRAM_TIMEOUT, copy).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(RunError::Failed(status.to_string())),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => {
            let seconds = PROGRAM_TIMEOUT.as_secs();
            Err(RunError::Failed(format!("no answer within {seconds} s")))
        }
    }
}

/// UTF-16, little-endian, with a byte order mark: `clip.exe` reads any other input in the code page
/// of the console.
fn utf16_with_mark(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(variables: &[&str]) -> Vec<&'static str> {
        let value = |name: &str| variables.contains(&name).then(|| "x".into());
        let environment = ClipboardEnvironment::from_variables(value);
        let names = environment.programs.iter().map(|program| program.name);
        names.filter(|name| *name != "pbcopy").collect()
    }

    #[test]
    fn clipboard_programs_depend_on_the_environment() {
        assert_eq!(detected(&[]), [""; 0]);
        assert_eq!(detected(&["WAYLAND_DISPLAY"]), ["wl-copy"]);
        assert_eq!(detected(&["DISPLAY"]), ["xclip", "xsel"]);
        assert_eq!(
            detected(&["DISPLAY", "WSL_DISTRO_NAME"]),
            ["xclip", "xsel", "clip.exe"]
        );
        assert_eq!(detected(&["DISPLAY", "SSH_TTY"]), [""; 0]);
    }

    fn shell(script: &'static [&'static str]) -> ClipboardProgram {
        program("sh", script)
    }

    #[tokio::test]
    async fn failing_program_is_reported_and_the_terminal_takes_the_text() {
        let environment = ClipboardEnvironment {
            programs: vec![
                program("humble-no-such-program", &[]),
                shell(&["-c", "exit 3"]),
            ],
            is_tmux: false,
        };
        let request = CopyRequest {
            name: "the code".into(),
            text: "한글".into(),
        };
        let copy = environment.copy(request).await;
        assert_eq!(copy.sequence, b"\x1b]52;c;7ZWc6riA\x1b\\");
        let (program, why) = copy.report.failed_program.expect("the failure");
        assert_eq!((program, why.as_str()), ("sh", "exit status: 3"));
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_program_has_a_deadline() {
        let hanging = shell(&["-c", "exec sleep 1000"]);
        let Err(RunError::Failed(why)) = run(&hanging, "x").await else {
            panic!("it did not fail");
        };
        assert_eq!(why, "no answer within 2 s");
    }

    #[tokio::test]
    async fn a_clipboard_program_gets_the_text_and_no_secrets() {
        // The shell adds the last four.
        let checks = shell(&[
            "-c",
            "test \"$(cat)\" = 'a b' && ! env | cut -d= -f1 | grep -qvxE 'PATH|HOME|TMPDIR|LANG|LC_.*\
             |DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|WSL_.*|TMUX.*|PWD|OLDPWD|SHLVL|_'",
        ]);
        assert!(run(&checks, "a b").await.is_ok());
    }

    #[test]
    fn clip_exe_gets_utf16() {
        assert_eq!(utf16_with_mark("한"), [0xFF, 0xFE, 0x5C, 0xD5]);
    }
}
