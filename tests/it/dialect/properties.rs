//! Texts assembled from fragments of calls: every chunking gives the same events, and no byte is
//! lost.

use crate::dialect::scan_every_way::{scan, test_toolset};
use crate::dialect::scan_invariants::may_withhold;
use humble::dialect::scan::{CallScanner, ScanEvent};
use proptest::prelude::*;

const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    ":",
    ",",
    ";",
    "\\",
    "\n",
    " ",
    "`",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<th",
    "{\"name\": ",
    "\"add\"",
    "\"arguments\": ",
    "{\"a\": 1, \"b\": 2}",
    "\"unknown\"",
    "\"tool_calls\": ",
    "[{",
    "}]",
    "한글",
    "prose ",
    "// c\n",
    "/*",
    "1",
    "None",
    "{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}",
    "{\"name\": \"nope\", \"arguments\": {}}",
    "{\"name\": \"add\", \"arguments\": {\"a\" 1}}",
    "{\"name\": \"get_time\", \"arguments\": {}}",
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "[TOOL_CALLS]",
    "[TOOL",
    "<|python_tag|>",
    "<|eom_id|>",
    "functools",
    "to=functions.add ",
    "commentary to=functions.",
    "assistantcommentary ",
    "assistant to=",
    " json{\"a\": 1, \"b\": 2}",
    "to=",
    "\nfun",
    "[get_time()",
    "(a=1, b='둘')",
    "add",
    "log.add(a=",
    "\"\"\"",
    "()",
    "#",
    "=",
    ".call(",
    "<function_calls>",
    "</function_calls>",
    "<|tool_call_start|>",
    "<|tool_call>call:add{",
    "a:<|\"|>",
    "<escape>",
    "<|tool_call_begin|>",
    "function",
    "<｜tool▁sep｜>",
    "[ARGS]",
    "[CALL_ID]x",
    "<|tool_call_argument_begin|>",
    "<|start|>assistant",
    "<|channel|>",
    "analysis",
    "commentary to=functions.add ",
    "<|message|>",
    "<|end|>",
    "<|call|>",
    "<|channel>thought\n",
    "<channel|>",
    "```tool_code\n",
    "print(add(a=1, b=2))\n",
];

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(FRAGMENTS);
    prop::collection::vec(fragment, 0..18).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_chunking_of_random_fragments_gives_the_same_events(text in fragments(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let toolset = test_toolset();
        let whole = scan(&toolset, [text.as_str()]);
        prop_assert_eq!(&scan(&toolset, text.split_inclusive(|_| true)), &whole);
        let boundaries: Vec<_> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| *cut.get(&boundaries)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
        prop_assert_eq!(&scan(&toolset, chunks), &whole);
    }

    #[test]
    fn every_byte_is_emitted_once_and_only_possible_calls_are_withheld(text in fragments()) {
        let mut scanner = CallScanner::new(test_toolset());
        let (mut pushed, mut emitted) = (String::new(), String::new());
        let mut reclassifications = 0;
        for c in text.split_inclusive(|_| true) {
            pushed.push_str(c);
            for event in scanner.push(c) {
                reclassifications += u32::from(event == ScanEvent::TextWasThinking);
                emitted.push_str(event.raw());
            }
            let withheld = pushed.strip_prefix(&emitted);
            prop_assert!(withheld.is_some_and(|withheld| may_withhold(&emitted, withheld)), "{emitted:?} of {pushed:?}");
        }
        for event in scanner.finish() {
            reclassifications += u32::from(event == ScanEvent::TextWasThinking);
            emitted.push_str(event.raw());
        }
        prop_assert_eq!(&emitted, &text);
        prop_assert!(reclassifications <= 1);
    }

    #[test]
    fn text_without_markers_passes_through_immediately(
        text in "[a-eg-zA-Z가-힣ぁ-ん0-9.,;:!?()\"' \n-]{1,60}",
        cut in 1..60_usize,
    ) {
        let mut scanner = CallScanner::new(test_toolset());
        scanner.push("x");
        let cut = text.floor_char_boundary(cut);
        // At the end of a part, this may be the start of a message header of gpt-oss.
        let may_be_header = |part: &str| {
            let line = part.rsplit('\n').next().unwrap_or_default().trim_start();
            line.starts_with(['a', 'c', 't'])
        };
        prop_assume!(![&text[..cut], &text[cut..], &text].into_iter().any(may_be_header));
        for part in [&text[..cut], &text[cut..]] {
            let emitted: String = scanner.push(part).iter().map(ScanEvent::raw).collect();
            prop_assert_eq!(&emitted, part);
        }
    }
}
