//! The page of lasting choices of an approval: its keys, and its rows after an edit.

use crate::tui::update::tests::*;

#[test]
fn the_page_of_lasting_choices_accepts_only_the_keys_that_it_shows() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("a");
    for digit in ["1", "2", "3", "4", "5"] {
        chat.wait(600).keys(digit);
    }
    assert_eq!(chat.commands(), []);
    assert_eq!(
        chat.notice(),
        "This page accepts 6 7 8 9, or Esc to go back."
    );
    assert!(chat.screen().contains("Always run this tool"));
    // The row below the page lists the letter keys, so they still work.
    chat.wait(600).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("a").wait(600).keys("6");
    assert_eq!(chat.decisions(), [Decision::RunAlways]);
    // On the page of the call, the digits keep working.
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("1");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn the_page_of_an_edited_call_explains_why_it_grants_nothing() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<Down><End>2<Enter>").accept_check();
    chat.wait(600).keys("a");
    let rows = chat.dialog_rows();
    let rows: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
    assert_eq!(
        rows,
        [
            "add on sums, until you revoke it with /trust:",
            "Edited arguments can be run only once: permissions apply to the model's.",
            "",
            "9     Never run this tool",
            "Neither run nor asked about again, even if its definition changes.",
        ]
    );
    chat.keys("6");
    assert_eq!(chat.commands(), []);
    assert_eq!(chat.notice(), "This page accepts 9, or Esc to go back.");
}
