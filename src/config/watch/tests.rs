//! Real files in a scratch folder: each edit is told, whatever way it is made.

use super::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// No file system takes so long to tell; a look for safety comes in time, too.
const PATIENCE: Duration = Duration::from_secs(30);

struct Watched {
    folder: TempDir,
    watcher: SettingsWatcher,
}

impl Watched {
    /// A home `home` in a folder of its own, and a watcher that has looked once.
    async fn new(prepare: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().unwrap();
        prepare(folder.path());
        let watcher = SettingsWatcher::new(&Home::at(folder.path().join("home")));
        let mut watched = Self { folder, watcher };
        watched.is_told("the first look").await;
        watched
    }

    async fn is_told(&mut self, of: &str) {
        let told = timeout(PATIENCE, self.watcher.changed()).await;
        assert!(told.is_ok(), "{of}: nothing was told");
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
    watched.is_told("a write in place").await;
    fs::write(watched.at("home/new"), "{  }").unwrap();
    fs::rename(watched.at("home/new"), watched.at("home/config.json")).unwrap();
    watched.is_told("a file put in its place").await;
    fs::remove_file(watched.at("home/config.json")).unwrap();
    watched.is_told("its removal").await;
    fs::write(watched.at("home/mcp-servers.json"), "{}").unwrap();
    watched.is_told("a new file").await;
    fs::create_dir(watched.at("home/personas")).unwrap();
    fs::write(watched.at("home/personas/한글.md"), "Be kind.").unwrap();
    watched.is_told("a persona in a new folder").await;
    fs::write(watched.at("home/personas/한글.md"), "Be unkind.").unwrap();
    watched
        .is_told("a persona in a folder that was watched late")
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
    watched.is_told("a change behind the link").await;
    let link = watched.at("home/system_prompt.txt");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../two/p.txt", &link).unwrap();
    watched.is_told("a link that leads elsewhere").await;
    fs::write(watched.at("two/p.txt"), "behind the new link").unwrap();
    watched.is_told("a change behind the new link").await;
}

#[tokio::test]
async fn a_removed_and_recreated_home_is_watched_again() {
    let mut watched = Watched::new(plain_home).await;
    fs::remove_dir_all(watched.at("home")).unwrap();
    watched.is_told("the removal").await;
    plain_home(watched.folder.path());
    watched.is_told("the new home").await;
    fs::write(watched.at("home/config.json"), "{ \"a\": 1 }").unwrap();
    watched.is_told("a change in the new home").await;
}

#[test]
fn unchanged_contents_are_not_reported() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let (wake, _woken) = mpsc::channel(1);
    let home = Home::at(folder.path().join("home"));
    let mut look = SettingsFiles::new(home.clone(), wake);
    assert!(look.has_changed(), "the first look");
    assert!(!look.has_changed());
    fs::write(home.config(), "{}").unwrap();
    fs::write(home.history(), "typed").unwrap();
    assert!(
        !look.has_changed(),
        "the same bytes, and a file of another kind"
    );
    fs::write(home.config(), "{ }").unwrap();
    assert!(look.has_changed() && !look.has_changed());
    // A pipe in a file's place is told of and never opened.
    fs::remove_file(home.config()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, home.config(), rustix::fs::Mode::RUSR).unwrap();
    assert!(look.has_changed() && !look.has_changed());
}

#[tokio::test(start_paused = true)]
async fn without_system_events_files_are_polled_every_two_seconds() {
    let folder = TempDir::new().unwrap();
    plain_home(folder.path());
    let home = Home::at(folder.path().join("home"));
    let (wake, woken) = mpsc::channel(1);
    let mut look = SettingsFiles::new(home.clone(), wake);
    look.may_use_system = false;
    let (tell, mut told) = mpsc::channel(1);
    let _task = AbortOnDropHandle::new(tokio::spawn(watch_loop(look, woken, tell)));
    told.recv().await.unwrap();
    let begun = Instant::now();
    fs::write(home.config(), "{ }").unwrap();
    told.recv().await.unwrap();
    assert!(begun.elapsed() <= POLL_INTERVAL, "{:?}", begun.elapsed());
}
