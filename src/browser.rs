//! Opens a web page in the user's browser, without a shell. Callers pass only addresses that the
//! user chose to open.

use crate::text::{WordList, word_list};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A program that runs longer than this has started the browser, or is the browser.
const START_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Variables that a browser needs. Others, such as API keys, are not passed on.
static ALLOWED_NAMES: WordList = word_list!("environment", "browser");
static ALLOWED_PREFIXES: WordList = word_list!("environment", "browser prefixes");

/// Starts the browser with an `http` or `https` address. Blocks for up to 2 s for each
/// program that it tries.
///
/// # Errors
/// Why no browser could be started, as a clause.
pub fn open(url: &str) -> Result<(), String> {
    try_programs(url, |program| wait_for_start(&mut spawn(program, url)?))
}

/// Like [`open`], but does not wait, so a browser that fails after its start is not noticed.
///
/// # Errors
/// Why no browser could be started, as a clause.
pub fn open_detached(url: &str) -> Result<(), String> {
    try_programs(url, |program| {
        let mut child = spawn(program, url)?;
        // Waiting for the program avoids a zombie.
        std::thread::spawn(move || child.wait());
        Ok(())
    })
}

fn try_programs(
    url: &str,
    start: impl Fn(&'static str) -> Result<(), String>,
) -> Result<(), String> {
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err("the address is not a web address".to_owned());
    }
    let programs = programs(|name| std::env::var_os(name));
    if programs.is_empty() {
        return Err("there is no graphical session here".to_owned());
    }
    let mut problems = Vec::new();
    for program in programs {
        match start(program) {
            Ok(()) => return Ok(()),
            Err(why) => problems.push(format!("{program}: {why}")),
        }
    }
    Err(problems.join("; "))
}

/// The programs to try, in order. None on a Linux machine without a display: there, `xdg-open`
/// would start a text browser on this terminal.
fn programs(variable: impl Fn(&str) -> Option<OsString>) -> Vec<&'static str> {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "macos") {
        return vec!["open"];
    }
    let mut programs = Vec::new();
    if is_set("WSL_DISTRO_NAME") {
        programs.push("wslview");
    }
    if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        programs.push("xdg-open");
    }
    programs
}

fn spawn(program: &str, url: &str) -> Result<Child, String> {
    let variables = std::env::vars_os().filter(|(name, _)| is_allowed(name));
    Command::new(program)
        .arg(url)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())
}

/// Waits until the program has ended or has run for [`START_TIMEOUT`].
fn wait_for_start(child: &mut Child) -> Result<(), String> {
    let started_at = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) if started_at.elapsed() >= START_TIMEOUT => return Ok(()),
            Ok(None) => sleep(POLL_INTERVAL),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn is_allowed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        let mut prefixes = ALLOWED_PREFIXES.iter();
        ALLOWED_NAMES.contains(&name) || prefixes.any(|prefix| name.starts_with(prefix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_display_no_program_is_started() {
        let set = |names: &'static [&str]| {
            programs(move |name| names.contains(&name).then(|| OsString::from("x")))
        };
        assert_eq!(set(&["SSH_CONNECTION"]), [""; 0]);
        assert_eq!(set(&["DISPLAY"]), ["xdg-open"]);
        assert_eq!(
            set(&["WSL_DISTRO_NAME", "DISPLAY"]),
            ["wslview", "xdg-open"]
        );
    }

    #[test]
    fn only_web_addresses_are_opened() {
        for address in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "-h",
            "--help",
            "",
        ] {
            let error = open(address).expect_err("not a web address");
            assert_eq!(error, "the address is not a web address", "{address}");
        }
    }

    #[test]
    fn a_failing_program_is_reported_and_api_keys_are_not_passed_on() {
        let url = "https://example.com";
        let start = |program| wait_for_start(&mut spawn(program, url)?);
        assert!(start("false").is_err());
        assert!(start("true").is_ok());
        assert!(start("a-program-that-does-not-exist").is_err());
        assert!(!is_allowed(OsStr::new("OPENAI_API_KEY")));
    }
}
