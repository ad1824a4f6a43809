//! Opens an address in the user's web browser. Called only after the user asked for it.

use std::io;
use std::process::{Command, Stdio};
use url::Url;

/// The program that opens an address with the user's default browser.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Opens `address`, which must be a web address. Does not wait for the browser. The address is one
/// argument of the opener; no shell sees it.
///
/// # Errors
/// The address is not a web address, or the opener could not be started.
pub fn open(address: &str) -> io::Result<()> {
    let url = Url::parse(address).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| io::Error::other("it is not a web address"))?;
    let mut command = Command::new(OPENER);
    command
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut opener = command.spawn()?;
    // The opener ends soon; waiting for it avoids a zombie.
    std::thread::spawn(move || opener.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        for address in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "-a",
            "",
            "calc.exe",
        ] {
            assert!(open(address).is_err(), "{address}");
        }
    }
}
