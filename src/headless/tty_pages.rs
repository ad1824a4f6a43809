//! Prints a text that is longer than the screen page by page, so that no part of a call or request
//! scrolls by unread.

use super::tty_reader::TtyReader;

/// The longest question after a page, in columns.
const QUESTION_COLUMNS: u16 = 60;

/// Prints a text whose rows are wrapped to the terminal's width, and leaves room for `rows_below` rows
/// that follow it. Waits for Enter after each page but the last. Returns false if the user refused
/// instead.
pub(super) async fn print_pages(tty: &TtyReader, text: &str, rows_below: usize) -> bool {
    let rows: Vec<&str> = text.lines().collect();
    let mut page_rows = page_height(tty, rows_below);
    let mut rest = rows.as_slice();
    while rest.len() > page_rows {
        let (page, next) = rest.split_at(page_rows);
        rest = next;
        eprintln!("{}", page.join("\n"));
        match ask_for_next(tty, rest.len()).await {
            NextPage::Next => page_rows = page_height(tty, rows_below),
            NextPage::All => page_rows = rest.len(),
            NextPage::Refused => return false,
        }
    }
    if !rest.is_empty() {
        eprintln!("{}", rest.join("\n"));
    }
    true
}

enum NextPage {
    Next,
    All,
    Refused,
}

async fn ask_for_next(tty: &TtyReader, rows_left: usize) -> NextPage {
    let rows = match rows_left {
        1 => "1 more row".to_owned(),
        count => format!("{count} more rows"),
    };
    let question = format!("{rows} (Enter: next page, a: all of them, n: refuse) ");
    loop {
        let Some(line) = tty.ask(&question).await else {
            return NextPage::Refused;
        };
        match line.trim().to_lowercase().as_str() {
            "" => return NextPage::Next,
            "a" | "ㅁ" => return NextPage::All,
            "n" | "no" | "ㅜ" => return NextPage::Refused,
            _ => {}
        }
    }
}

/// The rows that fit above the question and the rows that follow the text.
fn page_height(tty: &TtyReader, rows_below: usize) -> usize {
    let question_rows = usize::from(QUESTION_COLUMNS / tty.columns() + 1);
    let below = question_rows + rows_below;
    usize::from(tty.rows()).saturating_sub(below).max(1)
}
