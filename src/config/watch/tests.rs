//! Edits real files in a temporary folder and expects the watcher to report every kind of edit.

use super::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Longer than any file-system event or fallback poll should take.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);

struct Watched {
    folder: TempDir,
    watcher: SettingsWatcher,
}

impl Watched {
    /// Prepares a home in a temporary folder, starts a watcher and consumes its initial report.
    async fn new(prepare: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().unwrap();
        prepare(folder.path());
        let watcher = SettingsWatcher::new(&Home::at(folder.path().join("home")));
        let mut watched = Self { folder, watcher };
        watched.expect_change("the first check").await;
        watched
    }

    async fn expect_change(&mut self, cause: &str) {
        let result = timeout(REPORT_TIMEOUT, self.watcher.changed()).await;
        assert!(result.is_ok(), "{cause}: no change was reported");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn plain_home(folder: &Path) {
    fs::create_dir(folder.join("home")).unwrap();
    fs::write(folder.join("home/config.json"), "{}").unwrap();
}

#[tokio::test]
async fn every_write_replacement_removal_and_creation_is_reported() {
    let mut watched = Watched::new(plain_home).await;
    fs::write(watched.path("home/config.json"), "{ }").unwrap();
    watched.expect_change("a write in place").await;
    fs::write(watched.path("home/new"), "{  }").unwrap();
    fs::rename(watched.path("home/new"), watched.path("home/config.json")).unwrap();
    watched.expect_change("a file renamed over it").await;
    fs::remove_file(watched.path("home/config.json")).unwrap();
    watched.expect_change("the removal of the file").await;
    fs::write(watched.path("home/mcp-servers.json"), "{}").unwrap();
    watched.expect_change("a new file").await;
    fs::create_dir(watched.path("home/personas")).unwrap();
    fs::write(watched.path("home/personas/한글.md"), "Be kind.").unwrap();
    watched.expect_change("a persona in a new folder").await;
    fs::create_dir(watched.path("home/prompts")).unwrap();
    fs::write(watched.path("home/prompts/explain.md"), "Explain it.").unwrap();
    watched.expect_change("a template in a new folder").await;
    fs::remove_file(watched.path("home/prompts/explain.md")).unwrap();
    watched.expect_change("the removal of a template").await;
    fs::write(watched.path("home/personas/한글.md"), "Be unkind.").unwrap();
    watched
        .expect_change("a change in the newly watched folder")
        .await;
}

#[tokio::test]
async fn settings_behind_symbolic_links_are_watched() {
    let mut watched = Watched::new(|folder| {
        plain_home(folder);
        for name in ["one", "two"] {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("p.txt"), name).unwrap();
        }
        let link = folder.join("home/system_prompt.txt");
        std::os::unix::fs::symlink("../one/p.txt", link).unwrap();
    })
    .await;
    fs::write(watched.path("one/p.txt"), "another").unwrap();
    watched.expect_change("a change of the link's target").await;
    let link = watched.path("home/system_prompt.txt");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../two/p.txt", &link).unwrap();
    watched.expect_change("a retargeted link").await;
    fs::write(watched.path("two/p.txt"), "another").unwrap();
    watched.expect_change("a change of the new target").await;
}

#[tokio::test]
async fn a_removed_and_recreated_home_is_watched_again() {
    let mut watched = Watched::new(plain_home).await;
    fs::remove_dir_all(watched.path("home")).unwrap();
    watched.expect_change("the removal").await;
    plain_home(watched.folder.path());
    watched.expect_change("the new home").await;
    fs::write(watched.path("home/config.json"), "{ \"a\": 1 }").unwrap();
    watched.expect_change("a change in the new home").await;
}

#[test]
fn settings_files_with_unchanged_contents_are_not_reported() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let (wake, _wakes) = mpsc::channel(1);
    let home = Home::at(folder.path().join("home"));
    let mut files = SettingsFiles::new(home.clone(), wake);
    assert!(files.has_changed(), "the first check");
    assert!(!files.has_changed());
    fs::write(home.config(), "{}").unwrap();
    fs::write(home.history(), "typed").unwrap();
    assert!(
        !files.has_changed(),
        "identical bytes, and a file that is not a settings file"
    );
    fs::write(home.config(), "{ }").unwrap();
    assert!(files.has_changed() && !files.has_changed());
    // A pipe in place of a file is reported but never opened, because opening it could block.
    fs::remove_file(home.config()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, home.config(), rustix::fs::Mode::RUSR).unwrap();
    assert!(files.has_changed() && !files.has_changed());
}

#[tokio::test(start_paused = true)]
async fn without_file_system_events_files_are_polled_every_two_seconds() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let home = Home::at(folder.path().join("home"));
    let (wake, wakes) = mpsc::channel(1);
    let mut files = SettingsFiles::new(home.clone(), wake);
    files.may_use_events = false;
    let (sender, mut reports) = mpsc::channel(1);
    let _task = AbortOnDropHandle::new(tokio::spawn(watch_loop(files, wakes, sender)));
    reports.recv().await.unwrap();
    let start = Instant::now();
    fs::write(home.config(), "{ }").unwrap();
    reports.recv().await.unwrap();
    assert!(start.elapsed() <= POLL_INTERVAL, "{:?}", start.elapsed());
}
