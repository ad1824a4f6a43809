//! Files below an open folder. No link is followed, so nothing outside can be reached, even if another
//! program exchanges a folder with a link in the meantime.

use rustix::fs::{AtFlags, Mode, OFlags, Stat, openat, statat};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

/// Opens a file or folder for reading. `path` contains neither `..` nor links; an empty one is the
/// folder itself. Does not wait for pipes.
///
/// # Errors
/// `InvalidInput`, or the file-system error; `FilesystemLoop` for a link.
pub fn open_below(folder: &File, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // A duplicate would share the position in a list of files.
    let mut file = File::from(openat(folder, ".", flags, Mode::empty())?);
    for part in path.components() {
        let Component::Normal(name) = part else {
            return Err(ErrorKind::InvalidInput.into());
        };
        file = openat(&file, name, flags, Mode::empty())?.into();
    }
    Ok(file)
}

/// The metadata of a file, folder or link; for `path` see [`open_below`].
///
/// # Errors
/// As for [`open_below`].
pub fn stat_below(folder: &File, path: &Path) -> io::Result<Stat> {
    let parent = open_below(folder, path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or(OsStr::new("."));
    Ok(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn neither_links_nor_parent_folders_are_followed_and_pipes_do_not_block() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("a/b")).expect("created");
        fs::write(path("a/b/file"), "text").expect("written");
        std::os::unix::fs::symlink("b", path("a/link")).expect("linked");
        std::os::unix::fs::symlink("b/file", path("a/file")).expect("linked");
        rustix::fs::mkfifoat(rustix::fs::CWD, path("a/pipe"), Mode::RUSR).expect("created");
        let root = File::open(folder.path()).expect("opened");
        for name in ["", "a", "a/b/file", "a/pipe"] {
            open_below(&root, Path::new(name)).expect(name);
            stat_below(&root, Path::new(name)).expect(name);
        }
        for name in [
            "..",
            "a/../a",
            "/",
            "a/link/file",
            "a/link",
            "a/file",
            "a/gone",
        ] {
            open_below(&root, Path::new(name)).expect_err(name);
        }
    }
}
