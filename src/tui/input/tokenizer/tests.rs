//! Whole sequences, however they are split: by hand, at every byte, and at random.

use super::*;
use crate::tui::input::sequences::{TerminalReport, decode};
use crossterm::event::{Event, KeyCode};
use proptest::prelude::*;

const UP: &[u8] = b"\x1b[A";
const BACKGROUND_REPLY: &[u8] = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\";

/// A terminal whose bytes are read at once unless there is a pause.
struct Terminal {
    tokenizer: Tokenizer,
    now: Duration,
    tokens: Vec<InputToken>,
}

fn terminal() -> Terminal {
    Terminal {
        tokenizer: Tokenizer::new(false),
        now: Duration::from_secs(10),
        tokens: Vec::new(),
    }
}

impl Terminal {
    fn send(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let tokenizer = &mut self.tokenizer;
        tokenizer.feed(bytes.as_ref(), self.now, &mut self.tokens);
        self
    }

    /// Sends the bytes one by one with this pause after each.
    fn send_slowly(self, bytes: &[u8], millis: u64) -> Self {
        let send = |terminal: Self, byte: &u8| terminal.send([*byte]).wait(millis);
        bytes.iter().fold(self, send)
    }

    fn wait(mut self, millis: u64) -> Self {
        let end = self.now + Duration::from_millis(millis);
        while let Some(due) = self.tokenizer.wake_at().filter(|due| *due <= end) {
            self.tokenizer.expire(due, &mut self.tokens);
        }
        self.now = end;
        self
    }

    /// Everything so far, each token in a readable form.
    fn described(self) -> Vec<String> {
        self.tokens.iter().map(describe).collect()
    }

    fn reports(self) -> Vec<TerminalReport> {
        let mut reports = Vec::new();
        for token in self.tokens {
            decode(token, &mut reports);
        }
        reports
    }
}

fn describe(token: &InputToken) -> String {
    let alt = |has_alt: bool| if has_alt { "Alt+" } else { "" };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match token {
        InputToken::Char { c: '\u{1b}', .. } => "Esc".into(),
        InputToken::Char { c: '\r', has_alt } => alt(*has_alt).to_owned() + "Enter",
        InputToken::Char { c, has_alt } => format!("{}{c}", alt(*has_alt)),
        InputToken::Csi { body, has_alt } => format!("{}CSI {}", alt(*has_alt), text(body)),
        InputToken::Ss3 { body, has_alt } => format!("{}SS3 {}", alt(*has_alt), text(body)),
        InputToken::X10Mouse(report) => format!("mouse {report:?}"),
        InputToken::Paste(pasted) => format!("paste {pasted}"),
        InputToken::Osc(body) => format!("OSC {}", text(body)),
    }
}

#[test]
fn esc_alone_is_a_key_after_a_moment() {
    assert_eq!(terminal().send([ESC]).wait(49).described(), [""; 0]);
    assert_eq!(terminal().send([ESC]).wait(50).described(), ["Esc"]);
    let mut over_ssh = terminal();
    over_ssh.tokenizer = Tokenizer::new(true);
    assert_eq!(
        over_ssh.send([ESC]).wait(99).send("[A").described(),
        ["CSI A"]
    );
    let mut kitty = terminal();
    kitty.tokenizer.set_kitty_keys(true);
    assert_eq!(
        kitty.send([ESC]).wait(499).send("[A").described(),
        ["CSI A"]
    );
}

#[test]
fn several_esc_in_a_row_are_as_many_keys() {
    let held_down = terminal().send_slowly(&[ESC; 5], 33).wait(50);
    assert_eq!(held_down.described(), ["Esc"; 5]);
    assert_eq!(terminal().send([ESC; 2]).wait(50).described(), ["Esc"; 2]);
    assert_eq!(terminal().send("\x1b\x1bx").described(), ["Esc", "Alt+x"]);
    assert_eq!(terminal().send("\x1b\x1b[A").described(), ["Alt+CSI A"]);
    let paste = terminal().send("\x1b\x1b[200~y\x1b[201~");
    assert_eq!(paste.described(), ["Esc", "paste y"]);
}

#[test]
fn idle_terminal_sets_no_timer() {
    for bytes in ["", "text 글", "\r", "\x1b[A", "\x1bx", "\x1b]0;t\x07"] {
        assert_eq!(
            terminal().send(bytes).tokenizer.wake_at(),
            None,
            "{bytes:?}"
        );
    }
    let after_esc = terminal().send([ESC]).wait(60);
    assert_eq!(after_esc.tokenizer.wake_at(), None);
    assert_eq!(
        terminal().send(&"글".as_bytes()[..2]).tokenizer.wake_at(),
        None
    );
}

#[test]
fn bytes_that_waited_to_be_read_still_belong_together() {
    let mut stalled = terminal().send([ESC]);
    stalled.now += Duration::from_secs(3);
    assert_eq!(stalled.send("[A").described(), ["CSI A"]);
}

#[test]
fn rest_of_a_sequence_whose_esc_was_taken_as_a_key_is_dropped() {
    for tail in ["[A", "[<64;10;5M", "[3~", "OP", "[M ab"] {
        let late = terminal().send([ESC]).wait(400).send(tail).send("x");
        assert_eq!(late.described(), ["Esc", "x"], "{tail}");
    }
    let slow = terminal().send_slowly(b"\x1b[<64;10;5M\x1b[A\x1bOP", 60);
    assert_eq!(slow.described(), ["Esc", "Esc", "Esc", "O", "P"]);
    let reply = terminal().send_slowly(b"\x1b]11;rgb:0/0/0\x07", 60);
    assert_eq!(reply.described(), ["Esc", "OSC 11;rgb:0/0/0"]);
    let too_late = terminal().send([ESC]).wait(551).send("[A");
    assert_eq!(too_late.described(), ["Esc", "[", "A"]);
}

#[test]
fn paste_whose_esc_came_too_early_stays_a_paste() {
    let late = terminal().send([ESC]).wait(400).send("[200~y\r\x1b[201~n");
    assert_eq!(late.described(), ["Esc", "paste y\r", "n"]);
}

#[test]
fn text_typed_after_esc_is_no_rest_of_a_sequence() {
    for text in ["[ ]", "OK", "[x]", "]]", "a[A"] {
        let typed = terminal()
            .send([ESC])
            .wait(60)
            .send_slowly(text.as_bytes(), 30);
        let expected = format!("Esc{text}");
        assert_eq!(typed.wait(100).described().concat(), expected);
    }
    let bracket = terminal().send([ESC]).wait(60).send("[");
    let bracket = bracket.wait(490).send("A]").wait(60).send("O");
    assert_eq!(bracket.described().concat(), "Esc[A]O");
}

#[test]
fn control_strings_are_no_keys() {
    for introducer in ["]", "P", "X", "^", "_"] {
        for end in ["\x07", "\x1b\\"] {
            let reply = format!("\x1b{introducer}y{end}n");
            let keys = terminal().send(&reply).described();
            assert_eq!(keys.last().map(String::as_str), Some("n"), "{reply:?}");
            assert!(!keys.contains(&"y".to_owned()), "{reply:?}: {keys:?}");
            let slow = terminal().send_slowly(reply.as_bytes(), 40).described();
            assert_eq!(slow, keys);
        }
    }
    let with_esc = terminal().send("\x1bP+q\x1b[A\x1b\x1b\\x");
    assert_eq!(with_esc.described(), ["x"]);
    let slow_reply = terminal().send(&BACKGROUND_REPLY[..4]);
    let slow_reply = slow_reply.send_slowly(&BACKGROUND_REPLY[4..], 900);
    assert_eq!(slow_reply.described(), ["OSC 11;rgb:ffff/ffff/ffff"]);
}

#[test]
fn alt_with_an_introducer_is_a_key_unless_a_string_follows() {
    for key in ["]", "P", "X", "^", "_"] {
        let alone = terminal().send(format!("\x1b{key}")).wait(50).send("y");
        assert_eq!(alone.described(), [format!("Alt+{key}"), "y".into()]);
        let repeated = format!("\x1b{key}").repeat(3);
        let repeated = terminal().send_slowly(repeated.as_bytes(), 15).wait(50);
        assert_eq!(repeated.described(), vec![format!("Alt+{key}"); 3]);
    }
    assert_eq!(terminal().send("\x1b]\r").described(), ["Alt+]", "Enter"]);
    assert_eq!(terminal().send("\x1b]\x1b\\x").described(), ["x"]);
    assert_eq!(terminal().send("\x1b[").wait(500).described(), ["Alt+["]);
    assert_eq!(terminal().send("\x1bO").wait(500).described(), ["Alt+O"]);
    assert_eq!(terminal().send("\x1b[\r").described(), ["Alt+[", "Enter"]);
}

#[test]
fn control_string_without_an_end_is_given_up() {
    let silent = terminal().send("\x1b]11;rgb").wait(999).send("y");
    assert_eq!(silent.wait(1_000).send("n").described(), ["n"]);
    let mut long = terminal().send("\x1b_");
    let part = vec![b'y'; 1 << 16];
    for _ in 0..16 {
        long = long.send(&part);
    }
    assert_eq!(long.tokens, []);
    assert_eq!(long.send("yyn").described(), ["y", "n"]);
}

#[test]
fn incomplete_and_unknown_sequences_are_dropped_whole() {
    assert_eq!(
        terminal()
            .send("\x1b[<64;1")
            .wait(1_000)
            .send("x")
            .described(),
        ["x"]
    );
    assert_eq!(
        terminal().send("\x1b[M!").wait(1_000).send("x").described(),
        ["x"]
    );
    assert_eq!(terminal().send("\x1b[1;5\x03").described(), ["\u{3}"]);
    let long = format!("\x1b[{}~x", "1;".repeat(200));
    assert_eq!(terminal().send(long).described(), ["x"]);
    for unknown in [
        "\x1b[?62;22c",
        "\x1b[1;2y",
        "\x1b[99~",
        "\x1b[4;1R",
        "\x1bO5",
        "\x1b[?1;2$y",
    ] {
        let reports = terminal().send(unknown).wait(1_000).reports();
        assert_eq!(reports, [], "{unknown:?}");
    }
}

#[test]
fn invalid_utf_8_is_dropped_and_takes_nothing_along() {
    assert_eq!(
        terminal().send(b"a\xff\xc3b\xe2\x82c").described(),
        ["a", "b", "c"]
    );
    assert_eq!(
        terminal().send_slowly("한글".as_bytes(), 300).described(),
        ["한", "글"]
    );
    assert_eq!(terminal().send("\x1bü").described(), ["Alt+ü"]);
    // U+009B and U+009D, and the single bytes, are no introducers.
    assert_eq!(terminal().send("\u{9b}A").described(), ["\u{9b}", "A"]);
    assert_eq!(
        terminal().send(b"\x9bA\x9d1;x").described(),
        ["A", "1", ";", "x"]
    );
}

#[test]
fn carriage_return_and_line_feed_are_one_line_break() {
    let breaks = |terminal: Terminal| terminal.described().len();
    assert_eq!(
        terminal().send("a\r\n\r\nb").described(),
        ["a", "Enter", "Enter", "b"]
    );
    assert_eq!(breaks(terminal().send_slowly(b"\r\n", 40)), 1);
    assert_eq!(breaks(terminal().send_slowly(b"\r\n", 60)), 2);
    assert_eq!(breaks(terminal().send("\n\n\r\r")), 4);
}

#[test]
fn long_paste_arrives_whole_and_one_without_an_end_is_kept() {
    let text = "붙여 넣은 글 \x1b[201 \r\n".repeat(50_000);
    let mut long = terminal();
    for part in format!("\x1b[200~{text}\x1b[201~x")
        .as_bytes()
        .chunks(4_095)
    {
        long = long.send(part);
    }
    assert!(long.tokens == [InputToken::Paste(text), key(b'x', false)]);
    let endless = terminal().send("\x1b[200~one").wait(4_999).send(" two");
    let endless = endless.wait(5_000).send("x");
    assert_eq!(endless.described(), ["paste one two", "x"]);
}

#[test]
fn paste_of_any_length_is_kept_within_a_limit_of_memory() {
    let part = "글".repeat(1 << 20);
    let mut pasted = terminal().send("\x1b[200~");
    for _ in 0..12 {
        pasted = pasted.send(&part);
    }
    let pasted = pasted.send("\x1b[201~");
    let text_of = |token: &InputToken| match token {
        InputToken::Paste(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    let texts: Vec<String> = pasted.tokens.iter().map(text_of).collect();
    assert!(texts.len() > 1 && texts.concat() == part.repeat(12));
}

#[test]
fn sequence_cut_in_two_never_types_anything() {
    let sequences = [
        "\x1b[A",
        "\x1bOP",
        "\x1b[<64;10;5M",
        "\x1b[200~y\x1b[201~",
        "\x1b[97;5u",
    ];
    for sequence in sequences {
        for cut in 1..sequence.len() {
            for millis in [2, 49, 60, 300, 450] {
                let (start, rest) = sequence.split_at(cut);
                let reports = terminal().send(start).wait(millis).send(rest).reports();
                let typed = reports.iter().filter(|report| {
                    let TerminalReport::Event(Event::Key(key)) = report else {
                        return false;
                    };
                    matches!(key.code, KeyCode::Char(_)) && sequence != "\x1b[97;5u"
                        || matches!(key.code, KeyCode::Esc) && (cut > 1 || millis < 50)
                });
                assert_eq!(typed.count(), 0, "{sequence:?} {cut} {millis}: {reports:?}");
            }
        }
    }
}

/// Bytes that the terminal sends together, and the time until the next ones.
type Sent = (Vec<u8>, u64);

fn sent() -> impl Strategy<Value = Sent> {
    let at_once = |bytes: &[u8]| (bytes.to_vec(), 0);
    let mouse = (0_u32..200, 1_u32..300, 1_u32..100, any::<bool>());
    let mouse = mouse.prop_map(|(button, column, row, is_press)| {
        let end = if is_press { 'M' } else { 'm' };
        (
            format!("\x1b[<{button};{column};{row}{end}").into_bytes(),
            0,
        )
    });
    let string = ("[\\]PX^_]", "[ -~]{1,30}", any::<bool>());
    let string = string.prop_map(|(introducer, body, has_bell)| {
        let end = if has_bell { "\x07" } else { "\x1b\\" };
        (format!("\x1b{introducer}{body}{end}").into_bytes(), 0)
    });
    prop_oneof![
        "[a-z한글🙂\r\n\t \\[\\]O0-9]{1,8}".prop_map(|text| (text.into_bytes(), 0)),
        (0_u8..0x1b).prop_map(|control| (vec![control], 0)),
        prop_oneof![Just(60_u64), Just(700)].prop_map(|pause| (vec![ESC], pause)),
        "\x1b[\\[\\]OPX^_]".prop_map(|key| (key.into_bytes(), 1_000)),
        "\x1b[a-z0-9\r\x7fü]".prop_map(|key| (key.into_bytes(), 0)),
        "\x1b{1,2}[\\[O](1;[2-8])?[A-DFHPQS]".prop_map(|key| (key.into_bytes(), 0)),
        "\x1b\\[[0-9]{1,5}(:[0-9]{1,3})?(;[1-9](:[1-3])?)?[u~]"
            .prop_map(|key| (key.into_bytes(), 0)),
        proptest::array::uniform3(32_u8..=255)
            .prop_map(|[button, column, row]| (vec![ESC, b'[', b'M', button, column, row], 0)),
        "[^\x1b]{0,40}".prop_map(|text| (format!("\x1b[200~{text}\x1b[201~").into_bytes(), 0)),
        mouse,
        string,
        Just(at_once(BACKGROUND_REPLY)),
        Just(at_once(b"\x1b[I")),
        Just(at_once(UP)),
    ]
}

proptest! {
    #[test]
    fn input_cut_at_every_byte_is_the_same_as_uncut(
        script in proptest::collection::vec(sent(), 1..20),
        pauses in proptest::collection::vec(0_u64..50, 1..60),
    ) {
        let mut uncut = terminal();
        for (bytes, quiet) in &script {
            uncut = uncut.send(bytes).wait(*quiet);
        }
        let mut pauses = pauses.iter().cycle();
        let mut cut = terminal();
        for (bytes, quiet) in &script {
            for byte in bytes {
                cut = cut.send([*byte]).wait(*pauses.next().expect("endless"));
            }
            cut = cut.wait(*quiet);
        }
        prop_assert_eq!(cut.wait(10_000).reports(), uncut.wait(10_000).reports());
    }
}
