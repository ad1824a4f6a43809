//! Personas: files override built-in personas, the front matter lists tools, and an unusable file
//! is reported with the reason.

use super::*;
use humble::config::{all_personas, find_persona, read_personas};
use humble::domain::Persona;

fn with_personas(files: &[(&str, &[u8])]) -> ConfigFixture {
    let fixture = config_fixture();
    fs::create_dir(fixture.home.personas()).unwrap();
    for (name, bytes) in files {
        fs::write(fixture.home.personas().join(name), bytes).unwrap();
    }
    fixture
}

fn read_one(text: &str) -> Persona {
    let fixture = with_personas(&[("p.md", text.as_bytes())]);
    read_personas(&fixture.home).value.remove(0)
}

fn tool_names(persona: &Persona) -> Option<Vec<String>> {
    let tools = persona.tools.as_ref()?;
    Some(tools.iter().map(|tool| tool.qualified_name()).collect())
}

#[test]
fn a_file_overrides_the_built_in_persona_with_its_name() {
    let names = |personas: &[Persona]| -> Vec<String> {
        personas
            .iter()
            .map(|persona| persona.name.clone())
            .collect()
    };
    let fixture = config_fixture();
    assert_eq!(read_personas(&fixture.home).banners, []);
    assert_eq!(names(&all_personas(&[])), ["terraform", "weather"]);
    let weather = find_persona(&[], "weather").unwrap();
    let expected = Some(vec!["get_weather".to_owned(), "get_time".to_owned()]);
    assert_eq!(tool_names(&weather), expected);
    assert!(
        weather
            .text
            .unwrap()
            .starts_with("You answer questions about the weather")
    );

    let files: [(&str, &[u8]); 4] = [
        ("weather.md", b"# It always rains\n"),
        ("한글.md", b"\n\nBe kind.\nAlways."),
        (".hidden.md", b"no"),
        ("notes.txt", b"no"),
    ];
    let overridden = with_personas(&files);
    let personas = read_personas(&overridden.home).value;
    assert_eq!(names(&all_personas(&personas)).len(), 3);
    let rain = find_persona(&personas, "weather").unwrap();
    assert_eq!(rain.description, "It always rains");
    assert_eq!(
        (rain.text, rain.tools),
        (Ok("# It always rains\n".to_owned()), None)
    );
}

#[test]
fn the_terraform_persona_contains_every_required_rule() {
    let persona = find_persona(&[], "terraform").unwrap();
    assert_eq!(persona.tools, None);
    let text = persona.text.unwrap();
    for clause in [
        "valid, efficient and secure Terraform (`.tf`)",
        "only for AWS",
        "`t3.micro` unless the person asks for another",
        "public IP address attached",
        "SSH (port 22) in from anywhere",
        "should be narrowed",
        "unclear, ask before you run any tool",
        "friendly",
        "`Sorry, I don't know how to answer that.` and ask",
        "Never make things up",
        "Never remove the old deployment before the person has confirmed the new one",
        "Answer in Markdown",
        "what was done",
        "Explanation",
        "every file that was made",
    ] {
        assert!(text.contains(clause), "{clause}");
    }
}

#[test]
fn front_matter_is_removed_and_accepts_common_spellings() {
    let tools = Some(vec!["a".to_owned(), "fs/b".to_owned()]);
    for (text, rest, expected) in [
        ("---\ntools: a, fs/b\n---\nHi\n", "Hi\n", &tools),
        (
            "---\r\ntools: [\"a\", 'fs/b']\r\n---\r\n\r\nHi",
            "Hi",
            &tools,
        ),
        (
            "---\ntools:\n  - a\n  - fs/b\nmodel: x\n---\n\nHi",
            "Hi",
            &tools,
        ),
        ("\u{feff}---\ntools: a,fs/b\n---", "", &tools),
        ("---\ntools:\n---\nHi", "Hi", &Some(Vec::new())),
        ("---\nmodel: x\n---\nHi", "Hi", &None),
        (
            "Hi\n---\ntools: a\n---\n",
            "Hi\n---\ntools: a\n---\n",
            &None,
        ),
    ] {
        let persona = read_one(text);
        assert_eq!(persona.text.as_deref(), Ok(rest), "{text:?}");
        assert_eq!(&tool_names(&persona), expected, "{text:?}");
    }
    let description = read_one("---\ndescription: \"Says hi\"\n---\n# Title\n").description;
    assert_eq!(description, "Says hi");
}

#[test]
fn an_unusable_persona_is_reported_and_the_others_work() {
    let large = vec![b'x'; 10 << 20];
    let files: [(&str, &[u8]); 5] = [
        ("large.md", &large),
        ("latin.md", b"one\n\xe4"),
        ("open.md", b"---\ntools: fs/read\nHi"),
        ("tools.md", b"---\ntools: fs/\n---\nHi"),
        ("well.md", b"Hi"),
    ];
    let fixture = with_personas(&files);
    fs::create_dir(fixture.home.personas().join("folder.md")).unwrap();
    let personas = read_personas(&fixture.home).value;
    let why = |name: &str| match find_persona(&personas, name) {
        Ok(persona) => panic!("{persona:?}"),
        Err(notice) => notice.what,
    };
    assert!(find_persona(&personas, "well").is_ok());
    let message = |name: &str, why: &str| format!("The persona `{name}` cannot be used: {why}.");
    assert_eq!(
        why("large"),
        message("large", "its file is larger than 1 MB")
    );
    assert_eq!(
        why("latin"),
        message("latin", "line 2 of its file is not UTF-8")
    );
    assert_eq!(why("folder"), message("folder", "it is a folder"));
    let expected = "its `tools` contains `fs/`, expected `tool` or `server/tool`";
    assert_eq!(why("tools"), message("tools", expected));
    assert_eq!(
        why("open"),
        message("open", "its front matter is not closed by a line `---`")
    );
    assert_eq!(why("wel"), "There is no persona `wel`.");
    let notice = find_persona(&personas, "terrafrom").unwrap_err();
    assert_eq!(notice.advice, ["Did you mean `terraform`?".into()]);
}

#[test]
fn too_many_personas_and_a_file_in_place_of_the_folder_are_reported() {
    let fixture = config_fixture();
    fs::create_dir(fixture.home.personas()).unwrap();
    for number in 0..201 {
        fs::write(fixture.home.personas().join(format!("{number}.md")), "x").unwrap();
    }
    let loaded = read_personas(&fixture.home);
    assert_eq!(loaded.value.len(), 200);
    let text = notice_text(&loaded.banners[0].notice);
    assert!(
        text.contains("contains 201 personas. Only the first 200"),
        "{text}"
    );
    fs::remove_dir_all(fixture.home.personas()).unwrap();
    fs::write(fixture.home.personas(), "").unwrap();
    let loaded = read_personas(&fixture.home);
    let text = notice_text(&loaded.banners[0].notice);
    assert!(text.contains("expected a folder"), "{text}");
}
