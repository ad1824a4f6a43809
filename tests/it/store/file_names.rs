//! Session file names for arbitrary prompts.

use super::*;
use humble::store::session_file_name;

#[test]
fn a_session_file_name_consists_of_the_time_and_the_beginning_of_the_prompt() {
    let family = "👨‍👩‍👧‍👦";
    let cases = [
        ("대화 제목 이다", "대화_제목_이다"),
        ("hello world, again", "hello_worl"),
        ("a/b\\c:d*e?f", "a_b_c_d_e_"),
        ("\"<>|\u{0}\u{7f}\u{85}\t\u{3000}\u{2028}", "__________"),
        ("..ssh", "__ssh"),
        ("a.b..", "a.b.."),
        ("x\r\ny", "x_y"),
        ("\u{202e}evil\u{200b}\u{feff}\u{2066}\u{3164}", "_evil____"),
        ("a\u{200d} b\u{300}\u{200d}", "a__b\u{300}_"),
        ("/\u{301}x", "_\u{301}x"),
        (family, family),
        ("🇰🇷🏴󠁧󠁢󠁥󠁮󠁧󠁿각각", "🇰🇷🏴󠁧󠁢󠁥󠁮󠁧󠁿각각"),
        ("가나다라마바사아자차카", "가나다라마바사아자차"),
        ("", ""),
    ];
    for (prompt, beginning) in cases {
        let expected = format!("20251016_162030_{beginning}.json");
        assert_eq!(session_file_name(prompt, &now()), expected, "{prompt:?}");
    }
}

proptest! {
    #[test]
    fn every_prompt_yields_a_portable_file_name(
        prompt in any::<String>(),
        marks in 0_usize..500,
    ) {
        let prompt = format!("{prompt}e{}", "\u{301}".repeat(marks));
        let name = session_file_name(&prompt, &now());
        prop_assert!(name.len() <= 249, "space for _99999: {}", name.len());
        let is_forbidden = |c: char| c.is_control() || "/\\:*?\"<>| ".contains(c);
        prop_assert!(!name.contains(is_forbidden), "{}", name);
        let (folder, sessions) = new_store();
        let id = sessions.create(&conversation(&prompt, "a"), &now()).unwrap();
        prop_assert_eq!(id.as_str(), name);
        prop_assert!(path_of(&folder, id.as_str()).exists());
        prop_assert_eq!(&*sessions.open(&id).unwrap().messages[0].content, &prompt);
    }
}
