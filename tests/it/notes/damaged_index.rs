//! Indexes that are damaged or cannot be stored.

use super::*;
use crate::support::damaged_file::damage_page;

impl NotesFixture {
    fn home(&self) -> Home {
        Home::at(self.vault.parent().expect("a folder").join("home"))
    }

    /// Starts the tools again, as another run of the program does.
    fn restart(&mut self) {
        let home = self.home();
        let settings = read_settings_with(&home, &|_| None).value.built_in_tools();
        self.tools = built_in_tools(&home, settings, Provider::new());
    }

    fn index(&self) -> PathBuf {
        let files = fs::read_dir(self.home().root().join("cache")).expect("a folder");
        let mut paths = files.map(|file| file.expect("a file").path());
        let is_index = |path: &PathBuf| path.extension().is_some_and(|name| name == "sqlite");
        paths.find(is_index).expect("an index")
    }
}

#[tokio::test]
async fn a_note_index_with_overwritten_pages_is_built_again() {
    let text = "# Pears\n".to_owned() + &"pears and plums are fruit. ".repeat(60);
    let names: Vec<String> = (0..40).map(|number| format!("{number}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
    let mut notes = NotesFixture::new(&files);
    let rebuilt = json!(["The search index was damaged and was built again."]);
    let mut rebuilds = 0;
    for page in 1.. {
        notes.found("plums").await;
        notes.restart();
        if !damage_page(&notes.index(), page) {
            break;
        }
        let arguments = json!({ "query": "plums", "limit": 100 });
        let found = notes.call("search_notes", arguments).await;
        let found = found.unwrap_or_else(|error| panic!("page {page}: {error}"));
        let results = found["results"].as_array().map(Vec::len);
        assert_eq!(results, Some(40), "page {page}: {}", found["remarks"]);
        rebuilds += usize::from(found["remarks"][0] == rebuilt[0]);
        notes.restart();
        fs::remove_file(notes.index()).expect("removed");
    }
    assert!(rebuilds > 0);
}

#[tokio::test]
async fn a_search_works_without_a_folder_for_the_index() {
    let notes = NotesFixture::new(&[("tea.md", "# Tea\nGreen.")]);
    fs::write(notes.home().root().join("cache"), "a file is in the way").expect("written");
    let arguments = json!({ "query": "green" });
    let found = notes.call("search_notes", arguments).await.expect("found");
    assert_eq!(found["results"][0]["title"], "Tea");
    let remark = found["remarks"][0].as_str().expect("a remark");
    let start = "The index is only kept in memory: the search index cannot be written";
    assert!(remark.starts_with(start), "{remark}");
}
