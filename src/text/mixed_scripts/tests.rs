//! Tests that deceptive characters are marked and ordinary text is not.

use crate::text::{Clean, ScriptContext};

/// The text with `[` and `]` around each run of marked characters.
fn marked(text: &str) -> String {
    let shown = Clean::unambiguous(text);
    shown
        .as_str()
        .replace("⟩⟨", "")
        .replace('⟨', "[")
        .replace('⟩', "]")
}

fn assert_marked(cases: &[(&str, &str)]) {
    let wrong = cases.iter().filter(|(raw, shown)| marked(raw) != *shown);
    let wrong: Vec<_> = wrong.map(|(raw, shown)| (marked(raw), shown)).collect();
    assert_eq!(wrong, []);
}

#[test]
fn letters_that_pass_for_others_are_marked() {
    let cases = [
        ("p\u{430}ypal", "p[U+0430]ypal"),
        ("/etc/p\u{430}sswd x", "/etc/p[U+0430]sswd x"),
        ("g\u{3BF}\u{3BF}gle", "g[U+03BFU+03BF]gle"),
        ("pαypal", "p[U+03B1]ypal"),
        ("αpple", "[U+03B1]pple"),
        ("/νar/log", "/[U+03BD]ar/log"),
        ("κill -9 1", "[U+03BA]ill -9 1"),
        ("ρip install x", "[U+03C1]ip install x"),
        ("ssη host", "ss[U+03B7] host"),
        ("прив\u{65}т", "прив[U+0065]т"),
        ("\u{430}b", "[U+0430]b"),
        ("\u{FF45}tc", "[U+FF45]tc"),
        ("rm \u{FF0D}rf \u{FF0F}", "rm [U+FF0D]rf [U+FF0F]"),
        ("\u{1D42B}\u{1D426} x", "[U+1D42BU+1D426] x"),
        ("\u{210E}ome", "[U+210E]ome"),
        ("\u{13A2}est.sh", "[U+13A2]est.sh"),
        ("API를 p\u{430}", "API를 p[U+0430]"),
        ("p\u{430}를", "p[U+0430]를"),
        // After an escape, too.
        ("\\nр\u{61}", "\\n[U+0440]a"),
        ("%sp\u{430}y", "%sp[U+0430]y"),
        // Roman numerals, other forms of Latin letters, small capitals.
        ("\u{217C}s", "[U+217C]s"),
        ("rm \u{217D}", "rm [U+217D]"),
        ("w\u{2170}n", "w[U+2170]n"),
        ("f\u{131}le", "f[U+0131]le"),
        ("/adm\u{131}n", "/adm[U+0131]n"),
        ("lıst.txt", "l[U+0131]st.txt"),
        ("wın", "w[U+0131]n"),
        ("gıthub", "g[U+0131]thub"),
        ("confıg", "conf[U+0131]g"),
        ("façade /admın", "façade /adm[U+0131]n"),
        ("für https://gıthub.com", "für https://g[U+0131]thub.com"),
        ("https://\u{261}it.com/ŋ", "https://[U+0261]it.com/ŋ"),
        ("emaıl", "ema[U+0131]l"),
        ("d\u{251}ta", "d[U+0251]ta"),
        ("\u{261}it push", "[U+0261]it push"),
        ("ɢit", "[U+0262]it"),
        ("rm ᴄᴀᴛ", "rm [U+1D04U+1D00U+1D1B]"),
        ("\u{1C3}x", "[U+01C3]x"),
    ];
    assert_marked(&cases);
}

#[test]
fn words_digits_and_punctuation_that_read_as_ascii_are_marked() {
    let cases = [
        ("cd /оре/bin", "cd /[U+043EU+0440U+0435]/bin"),
        ("/оре", "/[U+043EU+0440U+0435]"),
        ("-с", "-[U+0441]"),
        (
            "см. https://оре.com/путь",
            "см. https://[U+043EU+0440U+0435].com/путь",
        ),
        (
            "https://аррӏе.com",
            "https://[U+0430U+0440U+0440U+04CFU+0435].com",
        ),
        ("сору_file", "[U+0441U+043EU+0440U+0443]_file"),
        ("rm -с x", "rm -[U+0441] x"),
        ("rm ο", "rm [U+03BF]"),
        ("say ן", "say [U+05DF]"),
        // Digits.
        ("v1٢3", "v1[U+0662]3"),
        ("10१", "10[U+0967]"),
        ("a৪", "a[U+09EA]"),
        ("pay ৪ now", "pay [U+09EA] now"),
        // Other scripts.
        ("cՕde", "c[U+0555]de"),
        ("סo", "[U+05E1]o"),
        // Punctuation.
        ("a\u{2215}b", "a[U+2215]b"),
        ("a\u{2044}b", "a[U+2044]b"),
        ("http\u{A789}//x", "http[U+A789]//x"),
        ("a\u{2024}txt", "a[U+2024]txt"),
        ("a \u{1C0} sh", "a [U+01C0] sh"),
        ("a \u{2223} sh", "a [U+2223] sh"),
        ("C:\u{2216}x", "C:[U+2216]x"),
        ("a\u{2236}b", "a[U+2236]b"),
        ("1\u{201A}000", "1[U+201A]000"),
        ("\u{223C}/x", "[U+223C]/x"),
        ("http:ノノx.com", "http:[U+30CEU+30CE]x.com"),
        ("a \u{A4FF} b", "a [U+A4FF] b"),
        ("〔a", "[U+3014]a"),
        ("a﹨b", "a[U+FE68]b"),
    ];
    assert_marked(&cases);
}

#[test]
fn names_of_mixed_scripts_are_marked() {
    let shown = "se⟨U+0441⟩ure";
    assert_eq!(Clean::name("se\u{441}ure").as_str(), shown);
    assert_eq!(Clean::quoted_if_needed("se\u{441}ure").as_str(), shown);
}

#[test]
fn ordinary_words_are_not_marked() {
    let texts = [
        "привет, мир; Ελληνικά, ΑΒΓ; Հայերեն; ᏣᎳᎩ",
        "файл.txt и README, C:\\Новая папка",
        "API를 Python으로 v2의 테스트123 파일.txt",
        "使用API（v2），然后；２０２４年、Ｔシャツ、第１章",
        "Pythonで書く、カタカナABC",
        "10 µm, 5 μm, 3 kΩ, 2 Ωm, 4 MΩ, Δt, λx",
        "ใช้APIนี้ APIבע בAPI العربيةAPI",
        "x ∈ ℝ, ℂ → ℝ, ∑ x, m², H₂O, №5, ½, ﬁn",
        "naïve café Đặng Größe ʼn ñandú ſ",
        // Escapes.
        "a\\nпривет\\tмир",
        "a\\n한글\\tΑθήνα\\u001bслово",
        "%sпривет, %5.2fруб., %Yг., %s값",
        "\\bслово\\b, \\dруб",
        // Fullwidth forms next to East Asian text.
        "１２３ＡＢＣ 한글",
        "ＮＨＫ、ＡＢＣ：１００％の",
        "比例３∶１，〔注〕",
        // Formulas.
        "TNFα, IFNγ1, PPARγ, NFκB, IκBα, Gβγ, αSMA, TGFβ1",
        "σx, dτ, Δt, µm, hν, ρg, σmax, ωt, sinα, 2πr, ΔΔG",
        "p = 0.05, α = 0.01, ρ, σ and ν",
        "ρ_water * g_μν",
        // Latin alphabets.
        "naïve, Straße, Ærøskøbing, Łódź, smørrebrød, þing, Hawaiʻi",
        "Tiếng Việt, Nguyễn, Đà Nẵng",
        "İstanbul'da hava sıcak mı, kıyafet, ılık",
        "kadın",
        "Diyarbakır ve altı ayı",
        "Test yapıyor, arıyorum, kalıyordu, yarınki",
        "[bɪt], ˈɡɑːdn",
        "ɖɔ ʋu ɣeti",
        "Chapter Ⅳ, World War Ⅱ, ⅲ)",
        "ステージⅡb",
        // A mixed word without look-alikes.
        "helლo",
        // East Asian words with Latin letters.
        "USB케이블, Tシャツ, 使用API, ㄅㄆㄇ, 〇〇一, AノBの",
        "ノート, 一, 丶",
        // Prose.
        "Москва",
        "Create тест.txt",
        "C:\\Users\\Тест\\рост.csv",
        "/data/отчёт/с.txt",
        "a — с, о, у: он пошёл",
        "сахар",
        "С",
        "Това е текст на български",
        "Πάμε στο cafe, ο Γιάννης",
        "пʼять don’t ʼn „ja“ ‚so‘ «x» ‹y› 5′ 3″",
        "- ❯ ls ├── src │ a – b — c … ~ ∼10 x ∼ y",
        "वजन १०kg, ٥kg من السكر, ০৪টি",
        "שלום׃ ס, ו־API; Հայ։ ה",
        "2010–2020, 3 × 4, ¡hola! ¿qué?",
    ];
    let wrong = texts
        .map(marked)
        .into_iter()
        .filter(|text| text.contains("[U+"));
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn line_is_judged_in_the_context_of_the_whole_value() {
    let value = "ＡＢＣ\n한글\n２０２４\nrm -с\nон пошёл";
    let context = ScriptContext::of(value);
    for line in value.lines() {
        assert_eq!(Clean::unambiguous_part(line, &context).as_str(), line);
    }
    let alone = Clean::unambiguous("ＡＢ");
    assert_eq!(alone.as_str(), "⟨U+FF21⟩⟨U+FF22⟩");
    // An editor, which draws cluster by cluster, shows the same.
    for text in [value, "p\u{430}ypal ⟨x⟩ e\u{301} 🇰🇷", "Ａ"] {
        let context = ScriptContext::of(text);
        let clusters = Clean::unambiguous_clusters(text, &context);
        let shown: String = clusters.map(|(_, shown)| String::from(shown)).collect();
        assert_eq!(shown, Clean::unambiguous(text).as_str());
    }
}
