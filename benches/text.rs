//! `cargo bench --bench text`: the pure functions that every token passes, each at
//! three sizes, so that one which is not linear shows: the throughput of a linear
//! one stays the same. What ends in `by_token` takes the text in as a model sends
//! it; the others take it whole.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use humble::dialect::scan::Scanner;
use humble::domain::{Launch, Offered, Server, ServerStatus, Tool};
use humble::text::{Clean, json as lenient, sanitize, wrap};
use serde_json::json;
use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::sync::Arc;

/// Bytes of text, about.
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

/// Words with the space behind them.
fn tokens(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

/// One tool, so that braces and fences are looked at.
fn offered() -> Arc<Offered> {
    let definition = json!({ "name": "get_time", "inputSchema": { "type": "object" } });
    let tool = Tool::from_definition(&definition).expect("a whole definition");
    let server = Server {
        id: "humble".into(),
        description: None,
        enabled: true,
        status: ServerStatus::Connected,
        launch: Launch::BuiltIn.identity(),
        tools: Arc::new(vec![tool]),
        tools_off: BTreeSet::new(),
        left_out: Vec::new(),
        stderr: Vec::new(),
        instructions: None,
    };
    Arc::new(Offered::from_servers(&[server]))
}

#[divan::bench_group]
mod wrapping {
    use super::*;

    fn whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = text(line, bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| wrap::wrap(black_box(&text), COLUMNS));
    }

    #[divan::bench(args = SIZES)]
    fn english(bencher: Bencher, bytes: usize) {
        whole(bencher, ENGLISH, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn mixed(bencher: Bencher, bytes: usize) {
        whole(bencher, MIXED, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn one_line(bencher: Bencher, bytes: usize) {
        whole(bencher, ENGLISH.trim_end(), bytes);
    }
}

#[divan::bench_group]
mod sanitising {
    use super::*;

    fn whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = text(line, bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| Clean::new(black_box(&text)));
    }

    #[divan::bench(args = SIZES)]
    fn english(bencher: Bencher, bytes: usize) {
        whole(bencher, ENGLISH, bytes);
    }

    #[divan::bench(args = SIZES)]
    fn mixed(bencher: Bencher, bytes: usize) {
        whole(bencher, MIXED, bytes);
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

    fn whole(bencher: Bencher, line: &str, bytes: usize) {
        let text = format!("[{}]", text(line, bytes).trim_end_matches(','));
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| lenient::parse(black_box(&text)).expect("it can be read"));
    }

    #[divan::bench(args = SIZES)]
    fn strict(bencher: Bencher, bytes: usize) {
        whole(
            bencher,
            r#"{"name": "get_time", "arguments": {"zone": "Asia/Seoul", "n": 12.5}},"#,
            bytes,
        );
    }

    #[divan::bench(args = SIZES)]
    fn to_be_mended(bencher: Bencher, bytes: usize) {
        whole(
            bencher,
            "{'name': 'get_time', 'arguments': {'zone': 'Asia/Seoul', 'n': 12.5,},},",
            bytes,
        );
    }
}

#[divan::bench_group]
mod dialects {
    use super::*;

    fn by_token(bencher: Bencher, text: &str) {
        let tokens = tokens(text);
        let offered = offered();
        bencher
            .counter(ItemsCount::new(tokens.len()))
            .bench_local(|| {
                let mut scanner = Scanner::new(Arc::clone(&offered));
                for token in &tokens {
                    black_box(scanner.push(token));
                }
                scanner.finish()
            });
    }

    #[divan::bench(args = SIZES)]
    fn prose_by_token(bencher: Bencher, bytes: usize) {
        by_token(bencher, &text(MIXED, bytes));
    }

    #[divan::bench(args = SIZES)]
    fn thinking_by_token(bencher: Bencher, bytes: usize) {
        by_token(
            bencher,
            &format!("<think>{}</think>done", text(ENGLISH, bytes)),
        );
    }

    #[divan::bench(args = SIZES)]
    fn code_by_token(bencher: Bencher, bytes: usize) {
        let line = "    if a < b && c[0] == '{' { run(\"x\"); } // `y`\n";
        by_token(bencher, &format!("```rust\n{}```\n", text(line, bytes)));
    }
}
