//! Files that are complete before they get their name. Paths are relative to an open folder, or to the
//! working directory with [`rustix::fs::CWD`].

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use uuid::Uuid;

pub(super) const PREFIX: &str = ".humble-";
pub(super) const SUFFIX: &str = ".tmp";

/// A file with a temporary name, which is removed on drop.
#[derive(Debug)]
pub struct TemporaryFile<'a> {
    folder: BorrowedFd<'a>,
    path: PathBuf,
    file: File,
}

impl<'a> TemporaryFile<'a> {
    /// Creates a file in `parent`, readable only by the user. Its name does not contain the final name,
    /// because that could make it too long.
    ///
    /// # Errors
    /// The file-system error.
    pub fn create(folder: BorrowedFd<'a>, parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("{PREFIX}{}{SUFFIX}", Uuid::new_v4().simple()));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(folder, &path, flags, Mode::RUSR | Mode::WUSR)?.into();
        Ok(Self { folder, path, file })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file to `target`, and replaces what is there.
    ///
    /// # Errors
    /// The file-system error.
    pub(super) fn replace(&self, target: &Path) -> io::Result<()> {
        Ok(renameat(self.folder, &self.path, self.folder, target)?)
    }

    /// Renames the file to `target`.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken, or the file-system error.
    pub fn rename_new(&self, target: &Path) -> io::Result<()> {
        let (folder, path) = (self.folder, &self.path);
        Ok(
            match renameat_with(folder, path, folder, target, RenameFlags::NOREPLACE) {
                // Not supported by the kernel or the file system.
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {
                    linkat(folder, path, folder, target, AtFlags::empty())
                }
                result => result,
            }?,
        )
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        // Fails if the file was renamed.
        let _ = unlinkat(self.folder, &self.path, AtFlags::empty());
    }
}
