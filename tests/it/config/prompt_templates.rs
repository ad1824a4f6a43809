//! Prompt templates: which files become commands, and why a file is unusable.

use super::*;
use humble::config::read_prompt_templates;
use humble::domain::PromptTemplates;

fn with_templates(files: &[(&str, &[u8])]) -> ConfigFixture {
    let fixture = config_fixture();
    fs::create_dir(fixture.home.prompts()).unwrap();
    for (name, bytes) in files {
        fs::write(fixture.home.prompts().join(name), bytes).unwrap();
    }
    fixture
}

/// Each template: its name, description, and its text or why it is unusable.
fn summary(templates: &PromptTemplates) -> Vec<[String; 3]> {
    let text = |body: &Result<_, String>| match body {
        Ok(body) => humble::domain::TemplateBody::fill(body, &[]),
        Err(why) => why.clone(),
    };
    let list = templates.list.iter();
    list.map(|template| {
        [
            template.name.clone(),
            template.description.clone(),
            text(&template.body),
        ]
    })
    .collect()
}

#[test]
fn each_markdown_file_is_a_template() {
    assert_eq!(
        read_prompt_templates(&config_fixture().home),
        PromptTemplates::default()
    );
    let files: [(&str, &[u8]); 5] = [
        (
            "review.md",
            b"\xef\xbb\xbf---\ndescription: \"Review code\"\nother: x\n---\n\nReview {{code}}.\n\n",
        ),
        ("번역.md", "# 번역\n{{글}}".as_bytes()),
        ("notes.txt", b"no"),
        (".hidden.md", b"no"),
        ("plain.md", b"\n\n  Say hello.\n"),
    ];
    let templates = read_prompt_templates(&with_templates(&files).home);
    assert_eq!(
        summary(&templates),
        [
            ["plain", "Say hello.", "Say hello."],
            ["review", "Review code", "Review {{code}}."],
            ["번역", "번역", "# 번역\n{{글}}"],
        ]
    );
}

#[test]
fn an_unusable_template_has_a_reason() {
    let large = vec![b'x'; 1024 * 1024 + 1];
    let files: [(&str, &[u8]); 6] = [
        ("a b.md", b"x"),
        (
            "colon.md",
            b"---\n# mine\ntags:\n- a\ndescription x\n---\ntext",
        ),
        ("empty.md", b"---\ndescription: Nothing\n---\n \n"),
        ("large.md", &large),
        ("latin.md", b"caf\xe9"),
        ("open.md", b"---\ndescription: x\n"),
    ];
    let templates = read_prompt_templates(&with_templates(&files).home);
    let reasons: Vec<String> = summary(&templates)
        .into_iter()
        .map(|[name, _, why]| format!("{name}: {why}"))
        .collect();
    assert_eq!(
        reasons,
        [
            "a b: a command name cannot contain spaces",
            "colon: line 5 of its front matter is not of the form `key: value`",
            "empty: its file has no text",
            "large: its file is larger than 1 MB",
            "latin: line 1 of its file is not UTF-8",
            "open: its front matter is not closed by a line `---`",
        ]
    );
}

#[test]
fn the_number_and_size_of_templates_are_limited() {
    let megabyte = vec![b'x'; 1024 * 1024];
    let names: Vec<String> = (0..201).map(|number| format!("{number:03}.md")).collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), if index < 9 { &megabyte[..] } else { b"x" }))
        .collect();
    let fixture = with_templates(&files);
    let templates = read_prompt_templates(&fixture.home);
    assert_eq!(templates.list.len(), 200);
    let problem = notice_text(&templates.problem.unwrap());
    assert!(
        problem.contains("contains 201 templates. Only the first 200 by name are listed."),
        "{problem}"
    );
    let is_usable = |index: usize| templates.list[index].body.is_ok();
    assert!(is_usable(7) && !is_usable(8) && !is_usable(9));
    fs::remove_dir_all(fixture.home.prompts()).unwrap();
    fs::write(fixture.home.prompts(), "").unwrap();
    let problem = read_prompt_templates(&fixture.home).problem;
    let problem = notice_text(&problem.unwrap());
    assert!(
        problem.contains("it is a file, expected a folder"),
        "{problem}"
    );
}
