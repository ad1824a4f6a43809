//! Real files in a temporary folder: every kind of edit is reported.

use super::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Longer than any file-system event or fallback poll takes.
const PATIENCE: Duration = Duration::from_secs(30);

struct Watched {
    folder: TempDir,
    watcher: SettingsWatcher,
}

impl Watched {
    /// A home in a temporary folder, and a watcher that has reported once.
    async fn new(prepare: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().unwrap();
        prepare(folder.path());
        let watcher = SettingsWatcher::new(&Home::at(folder.path().join("home")));
        let mut watched = Self { folder, watcher };
        watched.expect_change("the first check").await;
        watched
    }

    async fn expect_change(&mut self, cause: &str) {
        let reported = timeout(PATIENCE, self.watcher.changed()).await;
        assert!(reported.is_ok(), "{cause}: no change was reported");
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn plain_home(folder: &Path) {
    fs::create_dir(folder.join("home")).unwrap();
    fs::write(folder.join("home/config.json"), "{}").unwrap();
}

#[tokio::test]
async fn writing_replacing_removing_and_creating_a_file_are_reported() {
    let mut watched = Watched::new(plain_home).await;
    fs::write(watched.at("home/config.json"), "{ }").unwrap();
    watched.expect_change("a write in place").await;
    fs::write(watched.at("home/new"), "{  }").unwrap();
    fs::rename(watched.at("home/new"), watched.at("home/config.json")).unwrap();
    watched.expect_change("a file put in its place").await;
    fs::remove_file(watched.at("home/config.json")).unwrap();
    watched.expect_change("its removal").await;
    fs::write(watched.at("home/mcp-servers.json"), "{}").unwrap();
    watched.expect_change("a new file").await;
    fs::create_dir(watched.at("home/personas")).unwrap();
    fs::write(watched.at("home/personas/한글.md"), "Be kind.").unwrap();
    watched.expect_change("a persona in a new folder").await;
    fs::write(watched.at("home/personas/한글.md"), "Be unkind.").unwrap();
    watched
        .expect_change("a persona in a folder that was watched late")
        .await;
}

#[tokio::test]
async fn symbolic_links_are_followed() {
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
    fs::write(watched.at("one/p.txt"), "another").unwrap();
    watched.expect_change("a change behind the link").await;
    let link = watched.at("home/system_prompt.txt");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../two/p.txt", &link).unwrap();
    watched.expect_change("a link that leads elsewhere").await;
    fs::write(watched.at("two/p.txt"), "behind the new link").unwrap();
    watched.expect_change("a change behind the new link").await;
}

#[tokio::test]
async fn a_removed_and_recreated_home_is_watched_again() {
    let mut watched = Watched::new(plain_home).await;
    fs::remove_dir_all(watched.at("home")).unwrap();
    watched.expect_change("the removal").await;
    plain_home(watched.folder.path());
    watched.expect_change("the new home").await;
    fs::write(watched.at("home/config.json"), "{ \"a\": 1 }").unwrap();
    watched.expect_change("a change in the new home").await;
}

#[test]
fn unchanged_contents_are_not_reported() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let (wake, _woken) = mpsc::channel(1);
    let home = Home::at(folder.path().join("home"));
    let mut files = SettingsFiles::new(home.clone(), wake);
    assert!(files.has_changed(), "the first check");
    assert!(!files.has_changed());
    fs::write(home.config(), "{}").unwrap();
    fs::write(home.history(), "typed").unwrap();
    assert!(
        !files.has_changed(),
        "the same bytes, and a file of another kind"
    );
    fs::write(home.config(), "{ }").unwrap();
    assert!(files.has_changed() && !files.has_changed());
    // A pipe in place of a file is reported and never opened.
    fs::remove_file(home.config()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, home.config(), rustix::fs::Mode::RUSR).unwrap();
    assert!(files.has_changed() && !files.has_changed());
}

#[tokio::test(start_paused = true)]
async fn without_system_events_files_are_polled_every_two_seconds() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let home = Home::at(folder.path().join("home"));
    let (wake, woken) = mpsc::channel(1);
    let mut files = SettingsFiles::new(home.clone(), wake);
    files.may_use_system = false;
    let (sender, mut reports) = mpsc::channel(1);
    let _task = AbortOnDropHandle::new(tokio::spawn(watch_loop(files, woken, sender)));
    reports.recv().await.unwrap();
    let start = Instant::now();
    fs::write(home.config(), "{ }").unwrap();
    reports.recv().await.unwrap();
    assert!(start.elapsed() <= POLL_INTERVAL, "{:?}", start.elapsed());
}
