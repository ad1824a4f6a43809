//! Compares the estimate with real tokenizer counts.

use super::*;

/// A text and its token counts: `large` by the tokenizers of Qwen 3, Llama 3.2 and DeepSeek 3,
/// `gpt` by GPT-4o, `gemma` by Gemma 2 and 3, `small` by Mistral 7B, `english` by SmolLM 2.
struct Sample {
    name: &'static str,
    text: &'static str,
    large: [u64; 3],
    gpt: u64,
    gemma: [u64; 2],
    small: u64,
    english: u64,
}

const SAMPLES: [Sample; 5] = [
    Sample {
        name: "english",
        text: include_str!("samples/english.txt"),
        large: [186, 186, 186],
        gpt: 185,
        gemma: [187, 188],
        small: 197,
        english: 191,
    },
    Sample {
        name: "code",
        text: include_str!("samples/code.txt"),
        large: [252, 251, 265],
        gpt: 256,
        gemma: [298, 298],
        small: 321,
        english: 296,
    },
    Sample {
        name: "json",
        text: include_str!("samples/json.txt"),
        large: [283, 247, 252],
        gpt: 247,
        gemma: [297, 297],
        small: 314,
        english: 290,
    },
    Sample {
        name: "korean",
        text: include_str!("samples/korean.txt"),
        large: [254, 213, 253],
        gpt: 209,
        gemma: [255, 192],
        small: 431,
        english: 743,
    },
    Sample {
        name: "japanese",
        text: include_str!("samples/japanese.txt"),
        large: [186, 200, 197],
        gpt: 230,
        gemma: [146, 167],
        small: 312,
        english: 489,
    },
];

#[test]
fn estimate_is_never_below_the_real_count_and_at_most_40_percent_above() {
    let mut out_of_range = Vec::new();
    for sample in &SAMPLES {
        let mut check = |vocabulary, counts: &[u64]| {
            let estimate = estimate(sample.text, vocabulary);
            for count in counts {
                if estimate < *count || estimate * 100 > count * 140 {
                    out_of_range.push((sample.name, vocabulary, estimate, *count));
                }
            }
        };
        check(Vocabulary::Large, &sample.large);
        check(Vocabulary::Gpt, &[sample.gpt]);
        check(Vocabulary::Gemma, &sample.gemma);
        check(Vocabulary::Small, &[sample.small]);
        check(Vocabulary::English, &[sample.english]);
    }
    assert_eq!(out_of_range, []);
}

#[test]
fn repeated_rule_and_box_characters_count_as_few_tokens() {
    assert!(estimate(&"─".repeat(1_000), Vocabulary::Large) < 100);
    assert!(estimate(&"-".repeat(1_000), Vocabulary::Large) < 100);
    assert!(estimate(&"🙂".repeat(1_000), Vocabulary::Large) >= 1_000);
}

#[test]
fn vocabulary_is_detected_from_family_or_model_name() {
    for (family, model, vocabulary) in [
        (Some("gemma3"), "my-own:4b", Vocabulary::Gemma),
        (None, "gemma2:9b", Vocabulary::Gemma),
        (Some("llama"), "llama2:7b", Vocabulary::Small),
        (Some("llama"), "llama3.2:3b", Vocabulary::Large),
        (None, "mistral-large-latest", Vocabulary::Large),
        (Some("llama"), "smollm2:135m", Vocabulary::English),
        (Some("gptoss"), "gpt-oss:20b", Vocabulary::Gpt),
        (Some("qwen3"), "qwen3:4b", Vocabulary::Large),
    ] {
        assert_eq!(Vocabulary::for_model(family, model), vocabulary, "{model}");
    }
}

#[test]
fn empty_text_has_no_tokens() {
    assert_eq!(estimate("", Vocabulary::Large), 0);
}
