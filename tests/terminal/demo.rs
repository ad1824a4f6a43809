//! `humble demo` without any configuration.

use super::pty::{CTRL_C, ENTER, TerminalOptions};
use super::{READY_HINT, TestHome, clean_exit};
use std::fs;

#[test]
fn demo_approves_a_call_saves_the_answer_and_touches_no_user_files() {
    let home = TestHome::empty();
    let default_folder = home.path().join(".humble-ai-cli");
    fs::create_dir(&default_folder).expect("the home is writable");
    // The program would report this file if it read it.
    fs::write(default_folder.join("config.json"), "{ not JSON").expect("the home is writable");
    let mut terminal = TerminalOptions::with_default_home(&home)
        .arg("demo")
        .start();
    terminal.wait_for_text("1 of 7  A script answers here, not a model");
    terminal.wait_for_text("tools 2");
    terminal.press(ENTER);
    terminal.wait_for_text("Call now? (Y/N)");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("3 of 7  PgUp");
    let saved = home.wait_until_saved("It is ");
    let answer = saved["messages"][1]["content"].as_str().expect("a text");
    assert!(answer.contains("| **Seoul** | 2"), "{answer}");
    assert_eq!(saved["model"], "demo");
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains("The demo's conversations are in"), "{raw}");
    // Settings exist, so the demo gives no setup advice.
    assert!(!raw.contains("to connect a model"), "{raw}");
    let demo = default_folder.join("demo");
    let config = default_folder.join("config.json");
    let is_stray = |path: &std::path::PathBuf| !path.starts_with(&demo) && *path != config;
    let strays: Vec<_> = home.files().into_iter().filter(is_stray).collect();
    assert_eq!(strays, Vec::<std::path::PathBuf>::new());
    assert_eq!(
        fs::read_to_string(&config).expect("the file exists"),
        "{ not JSON"
    );
    home.assert_no_process_left();
}

#[test]
fn ctrl_c_stops_the_story_on_a_small_screen() {
    let home = TestHome::empty();
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("demo")
        .size(20, 6)
        .start();
    terminal.wait_for_text("1/7 A script");
    terminal.press("\x15");
    terminal.press("a story");
    terminal.wait_for_text("› a story");
    terminal.press(ENTER);
    terminal.wait_for_text("harbor");
    terminal.press(CTRL_C);
    terminal.wait_for_text("(stopped)");
    terminal.wait_for_text("› in Seoul?");
    assert_eq!(terminal.quit(), clean_exit());
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(
        raw.contains("conversations are in"),
        "the partial answer was not kept: {raw}"
    );
}
