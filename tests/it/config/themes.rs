//! `ui.theme` and the files in `themes/`.

use super::*;
use humble::domain::theme::{ThemeBase, ThemeChoice, ThemeColor, ThemeFile, ThemeRole};
use std::fs;

fn with_theme_file(config: &str, name: &str, text: &str) -> ConfigFixture {
    let fixture = with_config(config);
    let folder = fixture.home.themes();
    fs::create_dir_all(&folder).expect("created");
    fs::write(folder.join(name), text).expect("written");
    fixture
}

#[test]
fn theme_file_is_used_and_its_mistakes_are_reported_with_their_line() {
    let fixture = with_theme_file(
        r#"{ "ui": { "theme": "nord" } }"#,
        "nord.json",
        "{\n\"base\": \"light\",\n\"acent\": \"red\",\n\"dim\": 300,\n\"failure\": \"#bf616a\",\n\"number\": 7\n}",
    );
    let theme = fixture.settings().theme;
    assert_eq!(theme.choice, ThemeChoice::File("nord".into()));
    let expected = ThemeFile {
        name: "nord".into(),
        base: ThemeBase::Light,
        colors: vec![
            (ThemeRole::Failure, ThemeColor::Rgb(0xbf, 0x61, 0x6a)),
            (ThemeRole::Number, ThemeColor::Indexed(7)),
        ],
    };
    assert_eq!(theme.files, [expected]);
    let texts: Vec<String> = fixture
        .banners()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    let first = "themes/nord.json, line 3: unknown role `acent`; did you mean `accent`?";
    assert!(texts[0].starts_with(first), "{texts:?}");
    let second = "themes/nord.json, line 4: `dim` is 300, expected";
    assert!(texts[1].starts_with(second), "{texts:?}");
}

#[test]
fn unknown_theme_is_reported_and_the_default_stays() {
    let fixture = with_config(r#"{ "ui": { "theme": "drak" } }"#);
    assert_eq!(fixture.settings().theme.choice, ThemeChoice::Terminal);
    let banners = fixture.banners();
    assert_eq!(banners.len(), 1);
    let (_, what) = &banners[0];
    assert!(
        what.contains("line 1") && what.contains("`drak`") && what.contains("dark"),
        "{what}"
    );
}

#[test]
fn choosing_a_theme_changes_no_other_byte() {
    let before = "{\n  \"ui\" : {\"ascii\":true,   \"theme\":\"dark\"},\n  \"x\": 1.50\n}\n";
    let fixture = with_config(before);
    humble::config::set_theme(&fixture.home, &ThemeChoice::Light).expect("saved");
    let after = fs::read_to_string(fixture.home.config()).expect("read");
    assert_eq!(after, before.replace("dark", "light"));
}
