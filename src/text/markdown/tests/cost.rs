//! The work that a streamed text makes, counted.

use super::super::Markdown;
use super::marks;

/// Bytes laid out for a text that streams in sixty bytes at a time.
fn work(raw: &str) -> usize {
    let mut text = Markdown::new("", 80, marks(), true);
    let mut end = 0;
    while end < raw.len() {
        end = raw.ceil_char_boundary(end + 60);
        text.extend_to(&raw[..end], true);
    }
    text.layout.arena.work
}

#[test]
fn the_ten_thousandth_token_costs_what_the_first_did() {
    type Shape = fn(usize) -> String;
    let shapes: [(&str, Shape); 8] = [
        ("list", |n| {
            (0..n).map(|n| format!("- item {n} of it\n")).collect()
        }),
        ("nested list", |n| {
            (0..n)
                .map(|n| format!("{}- item {n}\n", " ".repeat(n % 9)))
                .collect()
        }),
        ("table", |n| {
            "|a|b|\n|-|-|\n".to_owned() + &"| one | two words |\n".repeat(n)
        }),
        ("fence", |n| {
            "```rust\n".to_owned() + &"let x = \"y\"; // z\n".repeat(n)
        }),
        ("prose", |n| {
            "Some **words** of it.\nAnother line.\n\n".repeat(n / 2)
        }),
        ("one paragraph", |n| "some words of it,\n".repeat(n)),
        ("one line", |n| "some words of it. ".repeat(n)),
        ("one word", |n| "somewordsofit한글".repeat(n)),
    ];
    for (name, shape) in shapes {
        let [short, long] = [1_000, 4_000].map(|lines| work(&shape(lines)));
        assert!(long < 5 * short, "{name}: {short} and {long} bytes");
    }
}
