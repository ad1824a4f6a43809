//! `cargo bench --bench text`: the pure functions that answers pass through, each with texts of
//! several sizes. A linear function has the same throughput at all of them. Benchmarks ending in
//! `by_token` feed the text in tokens, as a model sends it; the others feed it whole.

#[path = "../tests/support/fixtures.rs"]
mod fixtures;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use humble::dialect::scan::CallScanner;
use humble::domain::Toolset;
use humble::text::markdown::{MarkdownGlyphs, MarkdownView};
use humble::text::{Clean, lenient_json as lenient, sanitize, wrap};
use std::num::NonZeroU16;
use std::sync::Arc;

/// Approximate sizes of the texts, in bytes.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const COLUMNS: NonZeroU16 = NonZeroU16::new(72).expect("not zero");

const ENGLISH: &str = "The quick survey of streaming systems shows that a terminal which draws \
    only what has changed keeps its processor cool, even while a model writes faster than \
    anybody reads.\n";
const MIXED: &str = "한글과 漢字가 섞인 글은 넓은 글자를 세어야 하고, 👩‍👩‍👧 같은 것은 한 글자로 \
    보아야 한다 — naïve cafés too.\n";

fn main() {
    divan::main();
}

fn text(line: &str, bytes: usize) -> String {
    line.repeat(bytes.div_ceil(line.len()))
}

fn tokens(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

/// A toolset with one tool: without any, the scanner would skip braces and fences.
fn test_toolset() -> Arc<Toolset> {
    let server = fixtures::server("humble", vec![fixtures::tool("get_time")]);
    Arc::new(Toolset::from_servers(&[server]))
}

#[divan::bench_group]
mod wrapping {
    use super::*;

    fn bench_whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = text(line, bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| wrap::wrap(black_box(&text), COLUMNS));
    }

    #[divan::bench(args = SIZES)]
    fn english(bencher: Bencher, bytes: usize) {
        bench_whole(bencher, ENGLISH, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn mixed(bencher: Bencher, bytes: usize) {
        bench_whole(bencher, MIXED, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn one_line(bencher: Bencher, bytes: usize) {
        bench_whole(bencher, ENGLISH.trim_end(), bytes);
    }
}

#[divan::bench_group]
mod sanitizing {
    use super::*;

    fn bench_whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = text(line, bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| Clean::new(black_box(&text)));
    }

    #[divan::bench(args = SIZES)]
    fn english(bencher: Bencher, bytes: usize) {
        bench_whole(bencher, ENGLISH, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn mixed(bencher: Bencher, bytes: usize) {
        bench_whole(bencher, MIXED, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn mixed_by_token(bencher: Bencher, bytes: usize) {
        let text = text(MIXED, bytes);
        let tokens = tokens(&text);
        bencher
            .counter(ItemsCount::new(tokens.len()))
            .bench_local(|| {
                let mut sanitizer = sanitize::Sanitizer::default();
                for token in &tokens {
                    black_box(sanitizer.push(token));
                }
            });
    }
}

#[divan::bench_group]
mod lenient_json {
    use super::*;

    fn bench_whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = format!("[{}]", text(line, bytes).trim_end_matches(','));
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| lenient::parse(black_box(&text)).expect("parsable JSON"));
    }

    #[divan::bench(args = SIZES)]
    fn strict(bencher: Bencher, bytes: usize) {
        bench_whole(
            bencher,
            r#"{"name": "get_time", "arguments": {"zone": "Asia/Seoul", "n": 12.5}},"#,
            bytes,
        );
    }

    #[divan::bench(args = SIZES)]
    fn repaired(bencher: Bencher, bytes: usize) {
        bench_whole(
            bencher,
            "{'name': 'get_time', 'arguments': {'zone': 'Asia/Seoul', 'n': 12.5,},},",
            bytes,
        );
    }
}

#[divan::bench_group]
mod dialects {
    use super::*;

    fn bench_by_token(bencher: Bencher, text: &str) {
        let tokens = tokens(text);
        let toolset = test_toolset();
        bencher
            .counter(ItemsCount::new(tokens.len()))
            .bench_local(|| {
                let mut scanner = CallScanner::new(Arc::clone(&toolset));
                for token in &tokens {
                    black_box(scanner.push(token));
                }
                scanner.finish()
            });
    }

    #[divan::bench(args = SIZES)]
    fn prose_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, &text(MIXED, bytes));
    }

    #[divan::bench(args = SIZES)]
    fn thinking_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(
            bencher,
            &format!("<think>{}</think>done", text(ENGLISH, bytes)),
        );
    }

    #[divan::bench(args = SIZES)]
    fn code_by_token(bencher: Bencher, bytes: usize) {
        let line = "    if a < b && c[0] == '{' { run(\"x\"); } // `y`\n";
        bench_by_token(bencher, &format!("```rust\n{}```\n", text(line, bytes)));
    }
}

/// Texts that could start a call at every character. The cost per character must not grow with the
/// length.
#[divan::bench_group]
mod hostile {
    use super::*;

    const UNITS: [&str; 9] = [
        "<",
        "{",
        "[",
        "```\n",
        "<tool_call>",
        "<function=f>\n<parameter=a>",
        "[get_time(a='",
        "{\"name\": \"get_time\", \"arguments\": {",
        "functools",
    ];

    fn bench_whole(bencher: Bencher, unit: &str, bytes: usize) {
        let text = text(unit, bytes);
        let toolset = test_toolset();
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            let mut scanner = CallScanner::new(Arc::clone(&toolset));
            black_box(scanner.push(&text));
            scanner.finish()
        });
    }

    #[divan::bench(args = UNITS, sample_count = 20)]
    fn hundred_kilobytes(bencher: Bencher, unit: &str) {
        bench_whole(bencher, unit, 100_000);
    }

    #[divan::bench(args = UNITS, sample_count = 2)]
    fn ten_megabytes(bencher: Bencher, unit: &str) {
        bench_whole(bencher, unit, 10_000_000);
    }
}

#[divan::bench_group]
mod markdown {
    use super::*;

    const PROSE: &str = "Some **words** of it, `code` and [a link](https://example.com), \
        which go on until the paragraph ends.\nAnother line.\n\n";
    const LIST: &str = "- an item of the list, with **words** in it\n  - one within it\n";
    const ROW: &str = "| one | two words | `three` | 네 번째 칸 |\n";
    const CODE: &str = "    let x = call(\"text\", 42); // and a comment\n";

    fn bench_by_token(bencher: Bencher, text: &str) {
        let ends: Vec<usize> = tokens(text)
            .iter()
            .scan(0, |end, token| {
                *end += token.len();
                Some(*end)
            })
            .collect();
        bencher
            .counter(ItemsCount::new(ends.len()))
            .bench_local(|| {
                let mut view = MarkdownView::new("", 72, MarkdownGlyphs::new(false, true), true);
                for end in &ends {
                    view.extend_to(black_box(&text[..*end]), true);
                }
                view.len()
            });
    }

    fn table(bytes: usize) -> String {
        format!("| a | b | c | d |\n|---|---|--:|---|\n{}", text(ROW, bytes))
    }

    #[divan::bench(args = SIZES)]
    fn prose_whole(bencher: Bencher, bytes: usize) {
        let text = text(PROSE, bytes);
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            MarkdownView::new(
                black_box(&text),
                72,
                MarkdownGlyphs::new(false, true),
                false,
            )
        });
    }

    #[divan::bench(args = SIZES)]
    fn korean_whole(bencher: Bencher, bytes: usize) {
        let text = text(MIXED, bytes);
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            MarkdownView::new(
                black_box(&text),
                72,
                MarkdownGlyphs::new(false, true),
                false,
            )
        });
    }

    #[divan::bench(args = SIZES)]
    fn prose_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, &text(PROSE, bytes));
    }

    #[divan::bench(args = SIZES)]
    fn list_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, &text(LIST, bytes));
    }

    #[divan::bench(args = SIZES)]
    fn table_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, &table(bytes));
    }

    #[divan::bench(args = SIZES)]
    fn fence_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, &format!("```rust\n{}", text(CODE, bytes)));
    }

    #[divan::bench(args = SIZES)]
    fn one_paragraph_by_token(bencher: Bencher, bytes: usize) {
        bench_by_token(bencher, text(ENGLISH, bytes).replace('\n', " ").trim_end());
    }
}
