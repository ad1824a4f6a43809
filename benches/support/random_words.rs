//! Random English-like and Korean words, the same in every run.

/// A small pseudo-random generator (xorshift), so that runs are comparable.
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `count`. Small numbers are more frequent, like the ranks of words in a text.
    fn rank(&mut self, count: usize) -> usize {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((count as f64).powf(uniform) - 1.0) as usize
    }

    /// A text of `count` words from a vocabulary of 20,000.
    pub fn text(&mut self, is_korean: bool, count: usize) -> String {
        let word = |_| {
            let rank = self.rank(20_000);
            match is_korean {
                true => korean_word(rank),
                false => english_word(rank),
            }
        };
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    }
}

/// The English-like word with this rank; 0 is the most frequent.
pub fn english_word(rank: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ta", "ro", "min", "sel", "ka", "vor", "li", "ne", "du", "pa", "sho", "gri", "ba", "tem",
        "lo", "fi", "wen", "ur", "ci", "mo",
    ];
    let mut word = String::new();
    let mut rest = rank + 20;
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 20]);
        rest /= 20;
    }
    word
}

/// The Korean word with this rank; 0 is the most frequent. Some words have a particle.
pub fn korean_word(rank: usize) -> String {
    let syllable = |n: usize| char::from_u32(0xac00 + (n * 7919 % 11172) as u32).expect("Hangul");
    let particle = ["를", "은", "에서", "", ""][rank % 5];
    format!("{}{}{particle}", syllable(rank), syllable(rank / 50 + 3))
}
