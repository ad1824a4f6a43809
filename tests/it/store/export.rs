//! Exports: their contents, hostile text in HTML pages, and existing files.

use super::*;
use humble::domain::model::Secret;
use humble::domain::session::{CancelledTurn, TurnRecord};
use humble::domain::{ExportFormat, ExportPart, SecretRegistry};
use humble::store::{ExportError, render_session, write_export};

fn render(session: &Session, format: ExportFormat, part: ExportPart) -> String {
    render_session(session, format, part, &SecretRegistry::default())
}

fn page(answer: &str) -> String {
    render(
        &conversation("q", answer),
        ExportFormat::Html,
        ExportPart::default(),
    )
}

fn body(page: &str) -> &str {
    page.split_once("<body>").expect("a body").1
}

fn trip() -> Session {
    let mut session = conversation("Where?\n", "**Busan**\n\n# Why\n");
    session.messages.push(SavedMessage::user("When?"));
    session.messages.push(SavedMessage::assistant("In May."));
    session.started_at = None;
    session.metadata.title = Some("Trip\nto Busan".to_owned());
    session
}

#[test]
fn markdown_has_a_title_and_a_heading_for_each_message() {
    let text = render(&trip(), ExportFormat::Markdown, ExportPart::default());
    let expected = "# Trip to Busan\n\ngpt-4o\n\n## You\n\nWhere?\n\n## gpt-4o\n\n**Busan**\n\n# Why\n\
                    \n## You\n\nWhen?\n\n## gpt-4o\n\nIn May.\n";
    assert_eq!(text, expected);
}

#[test]
fn answers_alone_are_exported_as_they_were_written() {
    let part = |last| ExportPart {
        last,
        answers_only: true,
    };
    let text = |last| render(&trip(), ExportFormat::Markdown, part(last));
    assert_eq!(text(None), "**Busan**\n\n# Why\n\n---\n\nIn May.\n");
    assert_eq!(text(Some(1)), "In May.\n");
}

#[test]
fn an_exported_json_file_can_be_opened_as_a_session() {
    let (folder, sessions) = new_store();
    let text = render(&trip(), ExportFormat::Json, ExportPart::default());
    write_session(&folder, "s.json", text);
    let opened = sessions.open(&SessionId::new("s.json")).unwrap();
    assert_eq!(opened.title(), "Trip to Busan");
    assert_eq!(opened.messages, trip().messages);
}

fn trip_with_cancelled_turns() -> Session {
    let mut session = trip();
    let cancelled = |messages_before, text: &str| CancelledTurn {
        cancelled_at: Timestamp::UNIX_EPOCH,
        messages_before,
        prompt: "How?".to_owned(),
        attachments: Vec::new(),
        partial_answer: text.to_owned(),
        calls: Vec::new(),
        was_interrupted: false,
        replaced_turns: 0,
    };
    session.metadata.add_cancelled(cancelled(2, "By tr"));
    session.metadata.add_cancelled(cancelled(4, ""));
    session.metadata.add_cancelled(cancelled(4, "By <bus>"));
    session
}

#[test]
fn exports_keep_cancelled_answers_with_a_mark() {
    let session = trip_with_cancelled_turns();
    let markdown = |part| render(&session, ExportFormat::Markdown, part);
    let headings = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("## "));
        lines.map(|line| line[3..].to_owned()).collect()
    };
    let text = markdown(ExportPart::default());
    let turn = ["You", "gpt-4o"];
    let cancelled = ["You", "gpt-4o (cancelled)"];
    assert_eq!(headings(&text), [turn, cancelled, turn, cancelled].concat());
    assert!(text.ends_with("## You\n\nHow?\n\n## gpt-4o (cancelled)\n\nBy <bus>\n"));
    let last = ExportPart {
        last: Some(1),
        answers_only: false,
    };
    assert_eq!(headings(&markdown(last)), [turn, cancelled].concat());
    let answers = ExportPart {
        last: None,
        answers_only: true,
    };
    assert!(!markdown(answers).contains("By"));
    let page = render(&session, ExportFormat::Html, ExportPart::default());
    assert!(page.contains("gpt-4o (cancelled)</h2>") && page.contains("By &lt;bus&gt;"));
}

#[test]
fn exports_mark_a_stopped_answer() {
    let mut session = trip();
    session.metadata.turns.push(TurnRecord {
        is_stopped: true,
        ..TurnRecord::new(3, "m")
    });
    let text = render(&session, ExportFormat::Markdown, ExportPart::default());
    assert_eq!(text.matches("## gpt-4o\n").count(), 1, "{text}");
    assert_eq!(text.matches("## gpt-4o (stopped)\n").count(), 1, "{text}");
    let page = render(&session, ExportFormat::Html, ExportPart::default());
    assert!(page.contains("gpt-4o (stopped)</h2>"), "{page}");
}

#[test]
fn an_opened_export_shows_the_cancelled_turns_in_their_places() {
    let (folder, sessions) = new_store();
    let session = trip_with_cancelled_turns();
    for (last, places) in [(None, vec![2, 4]), (Some(1), vec![2])] {
        let part = ExportPart {
            last,
            answers_only: false,
        };
        let text = render(&session, ExportFormat::Json, part);
        write_session(&folder, "s.json", text);
        let opened = sessions.open(&SessionId::new("s.json")).unwrap();
        let cancelled = opened.metadata.cancelled.iter();
        let found: Vec<usize> = cancelled.map(|turn| turn.messages_before).collect();
        assert_eq!(found, places);
        assert_eq!(opened.messages.len(), if last.is_some() { 2 } else { 4 });
    }
}

#[test]
fn an_exported_page_renders_markdown() {
    let answer = "# A\n\n- [x] b\n\n| c | d |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet x = 1 < 2;\n```\n\n\
                  <https://a.b/?x=1&y=2> and <me@a.b> and ~~old~~ ![pic](https://a.b/p.png)";
    let page = page(answer);
    for expected in [
        "<h1>A</h1>",
        "<td>1</td>",
        "let x = 1 &lt; 2;",
        "<a href=\"https://a.b/?x=1&amp;y=2\">",
        "<a href=\"mailto:me@a.b\">me@a.b</a>",
        "<del>old</del>",
        "<a href=\"https://a.b/p.png\">pic</a>",
        "type=\"checkbox\"",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert!(!body(&page).contains("<img"));
}

/// Every tag in the body must be one that Markdown produces, and every link must lead to the web, to
/// an e-mail address or to `#`.
fn assert_harmless(page: &str) {
    const TAGS: &[&str] = &[
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "div",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "input",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
        "body",
        "html",
    ];
    assert!(page.contains("default-src 'none'"));
    assert_eq!(page.matches("<style>").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
    for tag in body(page).split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("{tag}"));
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '/']).next().unwrap_or_default();
        assert!(TAGS.contains(&name.trim()), "<{tag}>");
        let outside_quotes: String = tag.split('"').step_by(2).collect();
        for attribute in ["src", "style", "on", "srcset", "action", "formaction"] {
            assert!(
                !outside_quotes.contains(&format!(" {attribute}")),
                "<{tag}>"
            );
        }
        if let Some((_, target)) = tag.split_once("href=\"") {
            let is_allowed = ["http://", "https://", "mailto:", "#\""]
                .iter()
                .any(|start| target.starts_with(start));
            assert!(is_allowed, "<{tag}>");
        }
    }
}

#[test]
fn hostile_text_is_harmless_in_an_exported_page() {
    let attacks = [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "</style><script>alert(1)</script>",
        "</div></body><iframe src=\"https://evil\">",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](<java\nscript:alert(1)>)",
        "[x](\u{1}javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.com) [w](/etc) [v](about:blank)",
        "![x](javascript:alert(1)) ![y](data:image/svg+xml,<svg onload=alert(1)>)",
        "<javascript:alert(1)>",
        "[x](https://a.b \"\\\" onmouseover=alert(1) x=\\\"\")",
        "[a]: javascript:alert(1)\n\n[a]",
        "```\"><script>alert(1)</script>\nx\n```",
        "```<script>\n</code></pre><script>alert(1)</script>\n```",
        "<!--\n--><script>alert(1)</script>",
        "<![CDATA[<script>alert(1)</script>]]>",
        "| a |\n|---|\n| <script>alert(1)</script> |",
        "[<img src=x onerror=alert(1)>](https://a.b)",
        "![\"><script>alert(1)</script>](https://a.b)",
        "https://a.b/\"onmouseover=\"alert(1)",
        "\u{0}<scr\u{0}ipt>alert(1)</script>",
    ];
    for attack in attacks {
        assert_harmless(&page(attack));
        let mut session = conversation(attack, "x");
        session.metadata.title = Some(attack.to_owned());
        session.model = attack.to_owned();
        session.messages.push(SavedMessage {
            role: MessageRole::Other(attack.to_owned()),
            content: attack.into(),
            attachments: Vec::new(),
        });
        assert_harmless(&render(&session, ExportFormat::Html, ExportPart::default()));
    }
    let all = attacks.join("\n\n");
    assert_harmless(&page(&all));
    assert!(page(attacks[0]).contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn exported_pages_from_random_markup_are_harmless(pieces in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "\"", "'", "&", "script", "javascript:", "](", "[", "![", ")", "\n", "\n\n", "`", "```",
        "|", "-", "#", "* ", "<a href=", "</style>", "onload=", "https://a.b", "mailto:x@y.z", "\\", " ", "한글",
        "&#106;", "<!--", "-->", "<?", "<![CDATA[", "1. ", "> ", "    ", "\t",
    ]), 0..40)) {
        assert_harmless(&page(&pieces.concat()));
    }
}

#[test]
fn known_secrets_are_hidden_in_exports() {
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new("sk-very-secret-key-12345")]);
    let session = conversation("q", "The key is sk-very-secret-key-12345.");
    for format in ExportFormat::ALL {
        let text = render_session(&session, format, ExportPart::default(), &secrets);
        assert!(
            text.contains("The key is ") && !text.contains("very-secret"),
            "{text}"
        );
    }
}

#[test]
fn an_existing_file_is_replaced_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("trip.md");
    let target = path.to_str().unwrap();
    let write = |path: &str, text: &str, replaces| write_export(path, "default.md", text, replaces);
    assert_eq!(write(target, "one", false), Ok(path.clone()));
    assert_eq!(
        write(target, "two", false),
        Err(ExportError::Exists(path.clone()))
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(write(target, "two", true), Ok(path.clone()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    let in_folder = write(root.to_str().unwrap(), "three", false);
    assert_eq!(in_folder, Ok(root.join("default.md")));
    let missing = root.join("no/such/folder.md");
    let failed = write(missing.to_str().unwrap(), "x", true);
    assert!(
        matches!(failed, Err(ExportError::Unwritable { .. })),
        "{failed:?}"
    );
}

#[cfg(unix)]
#[test]
fn an_exported_file_is_private_and_does_not_replace_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("a.md");
    write_export(path.to_str().unwrap(), "x", "text", false).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let link = root.join("link.md");
    std::os::unix::fs::symlink(root.join("nowhere"), &link).unwrap();
    let written = write_export(link.to_str().unwrap(), "x", "text", false);
    assert_eq!(written, Err(ExportError::Exists(link)));
}
