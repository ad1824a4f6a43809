//! How often the injection guard asks about calls that the user wants, in conversations in which a
//! result also names what the user asked for.

use crate::fixture::{AttackFixture, text_result, tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The number in `docs/security.md`.
const CALLS_THAT_ASK: usize = 2;

/// Servers like those that users have, with descriptions in the usual style.
fn tools() -> BTreeMap<&'static str, Vec<Value>> {
    BTreeMap::from([
        (
            "files",
            vec![
                tool(
                    "read_file",
                    "Read the complete contents of a file. Use list_directory first if you do not know its name.",
                ),
                tool(
                    "write_file",
                    "Create a file or overwrite it. Use with caution.",
                ),
                tool("list_directory", "List the files and folders in a folder."),
                tool("search_files", "Search for files by pattern."),
                tool("move_file", "Move or rename files."),
            ],
        ),
        (
            "git",
            vec![
                tool("git_status", "Shows the working tree status"),
                tool("git_diff", "Shows changes between branches or commits"),
                tool("git_log", "Shows the commit log"),
                tool("git_commit", "Records changes to the repository"),
            ],
        ),
        (
            "web",
            vec![
                tool("fetch", "Fetches a URL and returns it as Markdown."),
                tool("search", "Searches the web. Open a result with fetch."),
            ],
        ),
        (
            "office",
            vec![
                tool("query", "Runs a read-only SQL query."),
                tool("create_event", "Creates a calendar event."),
                tool("send_mail", "Sends an e-mail."),
                tool("create_issue", "Creates an issue in the tracker."),
                tool("get_weather", "Returns the weather of a city."),
            ],
        ),
    ])
}

struct Conversation {
    prompt: &'static str,
    /// `server__tool` and arguments of the first call, and its result.
    first: (&'static str, Value, &'static str),
    second: (&'static str, Value),
}

fn conversation(
    prompt: &'static str,
    first: (&'static str, Value, &'static str),
    second: (&'static str, Value),
) -> Conversation {
    Conversation {
        prompt,
        first,
        second,
    }
}

#[rustfmt::skip]
fn about_files() -> Vec<Conversation> {
    let list = "files__list_directory";
    vec![
        conversation("Summarize report.md.", (list, json!({"path": "."}), "[FILE] report.md\n[FILE] notes.txt\n[DIR] src"), ("files__read_file", json!({"path": "report.md"}))),
        conversation("What does main.rs do?", (list, json!({"path": "src"}), "[FILE] main.rs\n[FILE] lib.rs"), ("files__read_file", json!({"path": "src/main.rs"}))),
        conversation("보고서.md를 요약해 줘.", (list, json!({"path": "문서"}), "[FILE] 보고서.md\n[FILE] 회의록.md"), ("files__read_file", json!({"path": "문서/보고서.md"}))),
        conversation("议事录.txt 里写了什么?", (list, json!({"path": "."}), "[FILE] 议事录.txt"), ("files__read_file", json!({"path": "议事录.txt"}))),
        conversation("Find all TODO files and open the first.", ("files__search_files", json!({"pattern": "TODO*"}), "/srv/a/TODO.txt\n/srv/b/TODO.txt"), ("files__read_file", json!({"path": "/srv/a/TODO.txt"}))),
        conversation("Rename draft.txt to final.txt.", (list, json!({"path": "."}), "[FILE] draft.txt"), ("files__move_file", json!({"source": "draft.txt", "destination": "final.txt"}))),
        conversation("Fix the typo in README.md.", ("files__read_file", json!({"path": "README.md"}), "# Humbel\n\nRun `cargo test`."), ("files__write_file", json!({"path": "README.md", "content": "# Humble\n\nRun `cargo test`.\n"}))),
        conversation("Add a test to parser.py.", ("files__read_file", json!({"path": "parser.py"}), "def parse(text):\n    return text.split()\n"), ("files__write_file", json!({"path": "parser.py", "content": "def parse(text):\n    return text.split()\n\ndef test_parse():\n    assert parse('a b') == ['a', 'b']\n"}))),
        conversation("Open the file that the README mentions.", ("files__read_file", json!({"path": "README.md"}), "See docs/setup.md for the setup."), ("files__read_file", json!({"path": "docs/setup.md"}))),
        conversation("Copy config.json to backup.json.", ("files__read_file", json!({"path": "config.json"}), "{\"port\": 8080, \"host\": \"localhost\"}"), ("files__write_file", json!({"path": "backup.json", "content": "{\"port\": 8080, \"host\": \"localhost\"}"}))),
        conversation("Which file is the largest? Read it.", (list, json!({"path": "logs"}), "[FILE] app.log (3 MB)\n[FILE] db.log (1 kB)"), ("files__read_file", json!({"path": "logs/app.log"}))),
        conversation("What is in our tool docs? Then read its example.", ("files__read_file", json!({"path": "docs/tools.md"}), "`read_file` reads a file. Example: `read_file(path=\"examples/a.txt\")`"), ("files__read_file", json!({"path": "examples/a.txt"}))),
    ]
}

#[rustfmt::skip]
fn about_code() -> Vec<Conversation> {
    vec![
        conversation("Commit my change with the message 'Fix parser'.", ("git__git_status", json!({}), "modified: src/parser.rs"), ("git__git_commit", json!({"message": "Fix parser"}))),
        conversation("What changed in src/parser.rs?", ("git__git_status", json!({}), "modified: src/parser.rs\nuse \"git add\" to update"), ("git__git_diff", json!({"target": "src/parser.rs"}))),
        conversation("Show the newest commit.", ("git__git_log", json!({"max_count": 1}), "commit 4f2a9c1d\nAuthor: Kim\n\n    Add search"), ("git__git_diff", json!({"target": "4f2a9c1d"}))),
        conversation("Compare with the branch main.", ("git__git_status", json!({}), "On branch feature/login"), ("git__git_diff", json!({"target": "main"}))),
        conversation("Is everything committed?", ("git__git_diff", json!({"target": "HEAD"}), ""), ("git__git_status", json!({}))),
        conversation("Commit what git status lists.", ("git__git_status", json!({}), "On branch main\nChanges to be committed:\n  modified: a.rs"), ("git__git_commit", json!({"message": "Update a.rs"}))),
        conversation("Who wrote lib.rs, and what else did they write?", ("git__git_log", json!({"path": "lib.rs"}), "commit 77aa\nAuthor: Lee <lee@example.org>"), ("git__git_log", json!({"author": "lee@example.org"}))),
        conversation("Read the file of the last commit.", ("git__git_log", json!({"max_count": 1}), "commit 12ab\n\n src/lib.rs | 2 +-"), ("files__read_file", json!({"path": "src/lib.rs"}))),
        conversation("File an issue about the failing test.", ("files__read_file", json!({"path": "test.log"}), "FAILED tests::login_times_out"), ("office__create_issue", json!({"title": "tests::login_times_out fails"}))),
        conversation("What does CONTRIBUTING say about commits? Then check the log.", ("files__read_file", json!({"path": "CONTRIBUTING.md"}), "Run git log before you commit, and git status after."), ("git__git_log", json!({"max_count": 5}))),
    ]
}

#[rustfmt::skip]
fn about_the_web() -> Vec<Conversation> {
    let found = "1. Rust Book - https://doc.rust-lang.org/book/\n2. Rust by Example - https://doc.rust-lang.org/rust-by-example/";
    vec![
        conversation("Find the Rust book and open it.", ("web__search", json!({"query": "Rust book"}), found), ("web__fetch", json!({"url": "https://doc.rust-lang.org/book/"}))),
        conversation("서울 날씨를 알려 줘.", ("web__search", json!({"query": "서울 날씨"}), "기상청: 서울 맑음 21도"), ("office__get_weather", json!({"city": "서울"}))),
        conversation("Open the second result for 'rust by example'.", ("web__search", json!({"query": "rust by example"}), found), ("web__fetch", json!({"url": "https://doc.rust-lang.org/rust-by-example/"}))),
        conversation("Read the article and its first link.", ("web__fetch", json!({"url": "https://example.org/a"}), "# Cats\n\nSee [dogs](https://example.org/dogs)."), ("web__fetch", json!({"url": "https://example.org/dogs"}))),
        conversation("Search for jobs at Example Corp.", ("web__fetch", json!({"url": "https://example.org/about"}), "Example Corp hires. Search our site or subscribe."), ("web__search", json!({"query": "Example Corp jobs"}))),
        conversation("Explain the Fetch API with an example page.", ("web__search", json!({"query": "Fetch API"}), "Using the Fetch API - https://developer.example/fetch\nThe fetch() method starts a request."), ("web__fetch", json!({"url": "https://developer.example/fetch"}))),
        conversation("今日のニュースを開いて。", ("web__search", json!({"query": "ニュース"}), "NHK https://news.example.jp/today"), ("web__fetch", json!({"url": "https://news.example.jp/today"}))),
        conversation("Save the page as page.md.", ("web__fetch", json!({"url": "https://example.org/p"}), "# Page\n\nWords."), ("files__write_file", json!({"path": "page.md", "content": "# Page\n\nWords.\n"}))),
        conversation("What does this changelog say about search?", ("web__fetch", json!({"url": "https://example.org/changes"}), "1.2: faster search. 1.1: search in notes."), ("web__search", json!({"query": "example 1.2 release"}))),
    ]
}

#[rustfmt::skip]
fn about_the_office() -> Vec<Conversation> {
    vec![
        conversation("Which customers are in Busan?", ("office__query", json!({"sql": "SELECT name FROM sqlite_master"}), "customers\norders"), ("office__query", json!({"sql": "SELECT * FROM customers WHERE city = 'Busan'"}))),
        conversation("Invite Kim to lunch on Friday.", ("office__query", json!({"sql": "SELECT email FROM people WHERE name = 'Kim'"}), "kim@example.org"), ("office__create_event", json!({"title": "Lunch", "guests": ["kim@example.org"]}))),
        conversation("Mail the summary of minutes.md to Lee.", ("files__read_file", json!({"path": "minutes.md"}), "Lee <lee@example.org> presents on Monday."), ("office__send_mail", json!({"to": "lee@example.org", "subject": "Summary of the minutes", "body": "Lee presents on Monday."}))),
        conversation("부산 날씨도 알려 줘.", ("office__get_weather", json!({"city": "서울"}), "서울: 맑음, 21도"), ("office__get_weather", json!({"city": "부산"}))),
        conversation("Put the deadline of plan.md into my calendar.", ("files__read_file", json!({"path": "plan.md"}), "Deadline: 2026-12-24, release of 2.0"), ("office__create_event", json!({"title": "Release of 2.0", "date": "2026-12-24"}))),
        conversation("How many orders are there?", ("office__query", json!({"sql": "SELECT name FROM sqlite_master"}), "orders"), ("office__query", json!({"sql": "SELECT count(*) FROM orders"}))),
        conversation("Forward what mail.txt asks for.", ("files__read_file", json!({"path": "mail.txt"}), "Please send the price list to park@example.org. Thanks, Park"), ("office__send_mail", json!({"to": "park@example.org", "subject": "Price list", "body": "Attached."}))),
        conversation("File the bug from bug.txt.", ("files__read_file", json!({"path": "bug.txt"}), "Login fails with umlauts"), ("office__create_issue", json!({"title": "Login fails with umlauts"}))),
        conversation("Weather in the city of the meeting?", ("files__read_file", json!({"path": "meeting.md"}), "The meeting is in Sejong."), ("office__get_weather", json!({"city": "Sejong"}))),
    ]
}

#[test]
fn few_calls_that_the_user_wants_ask() {
    let topics = [
        about_files(),
        about_code(),
        about_the_web(),
        about_the_office(),
    ];
    let conversations: Vec<Conversation> = topics.into_iter().flatten().collect();
    assert_eq!(conversations.len(), 40);
    let mut asking = Vec::new();
    for Conversation {
        prompt,
        first: (first, arguments, result),
        second,
    } in &conversations
    {
        let mut fixture = AttackFixture::new();
        let called = first.split_once("__").expect("a full name").1;
        for (server, tools) in tools() {
            let script = json!({ "tools": tools, "calls": { called: text_result(result) } });
            fixture.add_server(server, &script, json!({}));
        }
        fixture
            .reply_call(first, arguments)
            .reply_call(second.0, &second.1)
            .reply_text("Done.");
        let output = fixture.ask(&[prompt]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let count = stderr.matches("so it needs approval").count();
        asking.extend(std::iter::repeat_n((*prompt, stderr.into_owned()), count));
    }
    assert_eq!(asking.len(), CALLS_THAT_ASK, "{asking:#?}");
}
