//! Finding and reading files to attach, and reading images from the clipboard.

use crate::support::attachment_files::{PNG_BASE64, png};
use humble::attachments::{AttachError, ClipboardEnv, FileFinder, read_clipboard, read_path};
use humble::domain::attachment::{AttachmentContents, FoundFiles, TEXT_FILE_BYTES_MAX, shown_path};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn write(folder: &TempDir, name: &str, contents: impl AsRef<[u8]>) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, contents).expect("written");
}

fn read(folder: &TempDir, name: &str) -> Result<String, String> {
    match read_path(name, folder.path(), Path::new("/home")) {
        Ok(read) => Ok(match &read.attachment.contents {
            AttachmentContents::Text(text) => text.to_string(),
            AttachmentContents::Image(base64) => base64.to_string(),
            AttachmentContents::Missing => panic!("no contents"),
        }),
        Err(error) => Err(error.notice().what),
    }
}

#[test]
fn text_and_images_are_read_and_the_rest_is_refused_with_a_reason() {
    let folder = folder();
    write(&folder, "a b.txt", "한 줄\n");
    write(&folder, "image.txt", png());
    write(&folder, "a.pdf", "%PDF-1.7 …");
    write(&folder, "empty", "");
    write(&folder, "data", b"a\0b");
    write(
        &folder,
        "long",
        "x".repeat(TEXT_FILE_BYTES_MAX as usize + 1),
    );
    fs::create_dir(folder.path().join("sub")).expect("created");
    assert_eq!(read(&folder, "a b.txt").as_deref(), Ok("한 줄\n"));
    assert_eq!(read(&folder, "image.txt").as_deref(), Ok(PNG_BASE64));
    let refused = |name: &str| read(&folder, name).expect_err("refused");
    assert_eq!(refused("a.pdf"), "a.pdf is a PDF file, not text.");
    assert_eq!(refused("empty"), "empty is empty.");
    assert_eq!(refused("data"), "data is a binary file, not text.");
    assert_eq!(refused("long"), "long is larger than 2 MB.");
    assert_eq!(refused("sub"), "sub is a folder.");
    assert_eq!(refused("none"), "There is no file none.");
    let forged = refused("\x1b[2Jx\nno");
    assert!(!forged.contains(['\x1b', '\n']), "{forged:?}");
}

#[test]
#[cfg(unix)]
fn a_link_to_a_file_with_secrets_may_hold_secrets() {
    let folder = folder();
    write(&folder, ".env", "KEY=1");
    std::os::unix::fs::symlink(folder.path().join(".env"), folder.path().join("notes.txt"))
        .expect("linked");
    write(&folder, "plain.txt", "x");
    let is_secret = |name: &str| {
        let read = read_path(name, folder.path(), Path::new("/home"));
        read.expect("readable").may_hold_secrets
    };
    assert!(is_secret(".env") && is_secret("notes.txt"));
    assert!(!is_secret("plain.txt"));
}

fn paths(found: &FoundFiles) -> Vec<&str> {
    found.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn files_are_found_by_parts_of_their_paths() {
    let folder = folder();
    for name in [
        "src/tui/view/mod.rs",
        "src/main.rs",
        "docs/My Notes.md",
        "docs/\u{1112}\u{1161}\u{11ab}글.md",
        "target/debug/main.rs",
        ".env",
    ] {
        write(&folder, name, "x");
    }
    write(&folder, ".gitignore", "target\n");
    let finder = FileFinder::new(folder.path().to_owned());
    let find = |fragment: &str| {
        let found = finder.find(fragment);
        paths(&found)
            .iter()
            .map(|path| (*path).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(find("main"), ["src/main.rs"], "ignored files are left out");
    assert_eq!(find("viewmod"), ["src/tui/view/mod.rs"]);
    assert_eq!(find("notes"), ["docs/My Notes.md"]);
    assert_eq!(
        find("한글"),
        ["docs/\u{1112}\u{1161}\u{11ab}글.md"],
        "typed composed, stored decomposed"
    );
    assert_eq!(find(".en"), [".env"], "a typed dot finds hidden files");
    assert_eq!(find("target/debug/ma"), ["target/debug/main.rs"]);
    assert_eq!(find("./src/"), ["./src/tui/", "./src/main.rs"]);
    assert_eq!(find(".."), ["../"]);
    let name = folder.path().file_name().expect("a name").to_string_lossy();
    let above = find(&format!("../{name}/do"));
    assert_eq!(above, [format!("../{name}/docs/")]);
    let absolute = find(&format!("{}/src/m", folder.path().display()));
    assert_eq!(
        absolute[0],
        format!("{}/src/main.rs", folder.path().display())
    );
    assert!(find("nosuchfile").is_empty() && find("/nosuchfolder/x").is_empty());
}

#[test]
fn deceptive_file_names_are_escaped_on_screen_and_found_by_their_escaped_form() {
    let folder = folder();
    let names = [
        "a\u{202e}gpj.exe",
        "two\nlines.txt",
        "say \"hi\".txt",
        "d\u{1b}/in.txt",
    ];
    for name in names {
        write(&folder, name, "x");
    }
    let finder = FileFinder::new(folder.path().to_owned());
    let found = finder.find("");
    let mut listed = paths(&found);
    listed.sort_unstable();
    let mut expected = [&names[..], &["d\u{1b}/"]].concat();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    assert_eq!(shown_path(names[0]), "a⟨U+202E⟩gpj.exe");
    assert_eq!(shown_path(names[1]), "two⟨LF⟩lines.txt");
    assert_eq!(shown_path("보고서 한글.md"), "보고서 한글.md");
    for name in names {
        let found = finder.find(&shown_path(name));
        assert_eq!(paths(&found), [name]);
        assert!(read(&folder, paths(&found)[0]).is_ok());
    }
    let spelled_out = format!("{}/d⟨ESC⟩/i", folder.path().display());
    let expected = format!("{}/d\u{1b}/in.txt", folder.path().display());
    assert_eq!(paths(&finder.find(&spelled_out)), [expected]);
}

#[test]
fn a_hundred_thousand_files_are_searched_within_limits() {
    let folder = folder();
    for number in 0..1_000 {
        let sub = folder.path().join(format!("d{number}"));
        fs::create_dir(&sub).expect("created");
    }
    for number in 0..100_000 {
        let name = format!("d{}/file{number}.txt", number % 1_000);
        fs::File::create(folder.path().join(name)).expect("created");
    }
    let finder = FileFinder::new(folder.path().to_owned());
    let started = Instant::now();
    let found = finder.find("file99999");
    let cold = started.elapsed();
    assert!(found.is_partial || paths(&found)[0] == "d999/file99999.txt");
    assert!(found.files.len() <= 50);
    assert!(cold < Duration::from_secs(20), "{cold:?}");
    let started = Instant::now();
    finder.find("file1");
    println!("cold {cold:?}, warm {:?}", started.elapsed());
}

/// An environment with these variables and a folder of programs, each a shell script.
#[cfg(unix)]
fn clipboard(programs: &TempDir, scripts: &[(&str, &str)], variables: &[&str]) -> ClipboardEnv {
    use std::os::unix::fs::PermissionsExt;
    for (name, script) in scripts {
        let path = programs.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("executable");
    }
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    ClipboardEnv::new(|name| match name {
        "PATH" => Some(OsString::from(&path)),
        _ => variables.contains(&name).then(|| "1".into()),
    })
}

#[cfg(unix)]
#[tokio::test]
async fn the_clipboard_is_read_with_the_program_for_the_desktop() {
    let programs = folder();
    let decode = format!("printf %s {PNG_BASE64} | base64 -d");
    let env = clipboard(&programs, &[("wl-paste", &decode)], &["WAYLAND_DISPLAY"]);
    let read = read_clipboard(&env).await.expect("an image");
    assert_eq!(read.attachment.name, "clipboard.png");
    assert_eq!(read.attachment.path, None);
    assert_eq!(read.attachment.bytes, png().len() as u64);
    let windows = format!("echo {PNG_BASE64}");
    let env = clipboard(&programs, &[("powershell.exe", &windows)], &["WSL_INTEROP"]);
    assert!(
        read_clipboard(&env)
            .await
            .expect("an image")
            .attachment
            .is_image()
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_missing_image_or_clipboard_program_is_explained() {
    let programs = folder();
    let fails = clipboard(&programs, &[("xclip", "echo no >&2; exit 1")], &["DISPLAY"]);
    assert_eq!(
        read_clipboard(&fails).await,
        Err(AttachError::NoImageInClipboard)
    );
    let writes_text = clipboard(&programs, &[("xclip", "echo hello")], &["DISPLAY"]);
    assert_eq!(
        read_clipboard(&writes_text).await,
        Err(AttachError::NoImageInClipboard)
    );
    let none = clipboard(&folder(), &[], &[]);
    let error = read_clipboard(&none).await.expect_err("no program");
    assert!(matches!(error, AttachError::NoClipboardProgram { .. }));
}

#[cfg(unix)]
#[tokio::test]
async fn a_clipboard_program_that_hangs_or_writes_endlessly_is_stopped() {
    let programs = folder();
    let hangs = clipboard(&programs, &[("xclip", "exec sleep 60")], &["DISPLAY"]);
    let started = Instant::now();
    let error = read_clipboard(&hangs).await.expect_err("stopped");
    assert!(matches!(error, AttachError::ClipboardFailed { .. }));
    assert!(started.elapsed() < Duration::from_secs(20));
    let floods = clipboard(&programs, &[("xclip", "exec cat /dev/zero")], &["DISPLAY"]);
    let error = read_clipboard(&floods).await.expect_err("stopped");
    assert!(error.to_string().contains("too large"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_clipboard_program_gets_no_secret_variables() {
    let programs = folder();
    let seen = programs.path().join("seen");
    let script = format!("env > {}; exit 1", seen.display());
    let env = clipboard(
        &programs,
        &[("xclip", &script)],
        &["DISPLAY", "OPENAI_API_KEY"],
    );
    let _ = read_clipboard(&env).await;
    let seen = fs::read_to_string(seen).expect("the program ran");
    assert!(
        seen.contains("DISPLAY=1") && !seen.contains("OPENAI"),
        "{seen}"
    );
    // Variables of this process are not inherited either. The shell sets the last four.
    let expected = ["PATH", "DISPLAY", "PWD", "OLDPWD", "SHLVL", "_"];
    for (name, _) in seen.lines().filter_map(|line| line.split_once('=')) {
        assert!(expected.contains(&name), "{name}");
    }
}
