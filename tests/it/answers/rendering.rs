//! Streamed answers in many scripts, with tables, lists and code. Each frame also goes through a
//! terminal emulator and is compared cell by cell.

use crate::answers::screen_harness::{ScreenHarness, buffer_to_lines, screen_harness};
use humble::domain::{PieceKind, TurnEnd};
use humble::tui::terminal::diff_encoder::{encode, has_uncertain_width};
use ratatui::buffer::Buffer;
use std::num::NonZeroU16;
use vt100::Parser;

const SIZES: [(u16, u16); 3] = [(60, 20), (80, 24), (120, 40)];
/// Approximate bytes of one delta.
const DELTA_BYTES: usize = 7;

const SCRIPTS: &str = "\
## 여러 문자

한국어 문장은 **굵게(강조)**도 쓰고 `코드`도 씁니다. 낱말은 가운데에서 끊기지 않습니다.

日本語の文章は「どこでも」折り返せますが、句読点は行頭に来ません。**強調**もあります。

中文句子可以在任何地方换行，但标点不会出现在行首。

Ελληνικά, עברית, العربية: مرحبا بالعالم.
";

const CLUSTERS: &str = "\
Families 👨‍👩‍👧‍👦 👩‍👩‍👧 and flags 🇰🇷🇯🇵, hands 👍🏽, a heart ❤️ and keys 1️⃣ 2️⃣, all in one row of some length.

Marks: e\u{301} a\u{308} n\u{303} ệ, Hangul in parts \u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}, क्षि and ไทย.

| face | name |
|:----:|------|
| 🙂 | smile |
| 👨‍👩‍👧 | family, which is wider in some terminals |
| ❤️ | heart |
";

const TABLES: &str = "\
| Option | Default | What it does, told at such a length that no screen holds it in one row | 설명 |
|--------|--------:|-------------------------------------------------------------------------|------|
| `num_ctx` | 4,096 | Sets how much of the **conversation** the model sees | 문맥의 크기를 정합니다 |
| `seed` | 0 | Makes answers repeat | 같은 답을 다시 얻습니다 |

| a | b | c | d | e | f | g | h | i | j | k | l |
|---|---|---|---|---|---|---|---|---|---|---|---|
| 1111 | 2222 | 3333 | 4444 | 5555 | 6666 | 7777 | 8888 | 9999 | 1010 | 1111 | 1212 |
";

const LISTS: &str = "\
To do:
1. First, with a line that is long enough to be wrapped on a screen of sixty columns
   - nested, with `code`
     - and deeper
       1. still deeper: 더 깊은 곳에 있는 항목도 제대로 접힙니다
2. Second
   > a quote in an item
   > that goes on

   ```sh
   ls -la | grep \"x\"  # list
   ```
3. Third
- [x] done
- [ ] to come
";

const OPEN_FENCE: &str = "\
Here it is:

```python
# 인사를 합니다
def greet(name: str) -> str:
    \"\"\"Says hello.\"\"\"
    return f\"Hello, {name}! This line of code is longer than the chat is wide, so that it is broken.\"

for n in range(3):
    print(greet(\"세계\"), n";

/// Streams an answer, draws each frame over the previous one, and checks each on the emulated screen.
/// Returns the final screen.
fn stream_answer(size: (u16, u16), answer: &str, is_complete: bool) -> String {
    let mut harness = screen_harness(size);
    harness.prompt("보여줘");
    let mut terminal = Emulation::new(size);
    let mut start = 0;
    while start < answer.len() {
        let end = answer.ceil_char_boundary(start + DELTA_BYTES);
        harness
            .stream_delta(1, PieceKind::Text, &answer[start..end])
            .advance_clock(20);
        terminal.show(&mut harness);
        start = end;
    }
    if is_complete {
        harness.end_turn(TurnEnd::Answered {
            text: String::new(),
            is_truncated: false,
        });
    }
    terminal.show(&mut harness);
    buffer_to_lines(&harness.draw().0).join("\n")
}

struct Emulation {
    parser: Parser,
    shown: Buffer,
}

impl Emulation {
    fn new((columns, rows): (u16, u16)) -> Self {
        let cells = |cells| NonZeroU16::new(cells).expect("not zero");
        let area = ratatui::layout::Rect::new(0, 0, columns, rows);
        Self {
            parser: Parser::new(cells(rows), cells(columns), 0),
            shown: Buffer::empty(area),
        }
    }

    fn show(&mut self, harness: &mut ScreenHarness) {
        let (buffer, _) = harness.draw();
        let mut bytes = Vec::new();
        encode(&self.shown, &buffer, None, &mut bytes);
        self.parser.process(&bytes);
        self.shown = buffer;
        self.assert_cells_match();
    }

    /// Asserts that the emulator shows every drawn cell, except clusters whose width varies between
    /// terminals.
    fn assert_cells_match(&self) {
        let area = self.shown.area;
        for y in 0..area.height {
            let mut x = 0;
            while x < area.width {
                let drawn = self.shown[(x, y)].symbol();
                let columns = humble::text::grapheme::width(drawn).max(1) as u16;
                let emulated = self.parser.screen().cell(y, x).expect("cell on screen");
                let emulated_symbol = match emulated.contents() {
                    "" => " ",
                    text => text,
                };
                if !has_uncertain_width(drawn) {
                    assert_eq!(drawn, emulated_symbol, "at {x},{y} of {area:?}");
                }
                x += columns;
            }
        }
    }
}

fn at_all_sizes(answer: &str, is_complete: bool) -> String {
    let render = |size: (u16, u16)| {
        format!(
            "{}x{}\n{}",
            size.0,
            size.1,
            stream_answer(size, answer, is_complete)
        )
    };
    SIZES.map(render).join("\n\n")
}

#[test]
fn many_scripts_are_drawn_at_every_size() {
    insta::assert_snapshot!(at_all_sizes(SCRIPTS, true));
}

#[test]
fn grapheme_clusters_are_drawn_at_every_size() {
    insta::assert_snapshot!(at_all_sizes(CLUSTERS, true));
}

#[test]
fn tables_are_drawn_at_every_size() {
    insta::assert_snapshot!(at_all_sizes(TABLES, true));
}

#[test]
fn lists_are_drawn_at_every_size() {
    insta::assert_snapshot!(at_all_sizes(LISTS, true));
}

#[test]
fn an_open_fence_is_drawn_at_every_size() {
    insta::assert_snapshot!(at_all_sizes(OPEN_FENCE, false));
}

#[test]
fn thinking_folds_into_the_chat_without_its_own_pane() {
    let show = |size: (u16, u16)| {
        let mut harness = screen_harness(size);
        harness.prompt("생각해 봐");
        harness
            .stream_delta(1, PieceKind::Thinking, "First **this**:\n\n- one\n- two")
            .advance_clock(2_000);
        let unfolded = buffer_to_lines(&harness.draw().0).join("\n");
        harness.stream_delta(2, PieceKind::Text, "Done.");
        let answering = buffer_to_lines(&harness.draw().0).join("\n");
        harness.end_turn(TurnEnd::Answered {
            text: "Done.".to_owned(),
            is_truncated: false,
        });
        let folded = buffer_to_lines(&harness.draw().0).join("\n");
        [unfolded, answering, folded].join("\n\n")
    };
    insta::assert_snapshot!([(60, 20), (120, 24)].map(show).join("\n\n"));
}
