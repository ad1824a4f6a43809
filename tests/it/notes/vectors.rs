//! Searches with and without vectors of an embedding model.

use super::*;

#[tokio::test]
async fn meaning_counts_more_than_words_and_only_changed_notes_are_embedded_again() {
    let extra = json!({ "embedModel": "mini" });
    let notes =
        NotesFixture::with_settings(&[("cats.md", "cats purr"), ("dogs.md", "dogs bark")], extra);
    let embed = "/api/embed";
    notes.server.queue_reply(embed, vectors(&[[1.0, 0.3]]));
    notes
        .server
        .queue_reply(embed, vectors(&[[1.0, 0.0], [0.0, 1.0]]));
    assert_eq!(
        notes.found("felines that bark").await,
        ["cats.md", "dogs.md"]
    );
    let bodies = notes.server.bodies(embed);
    assert_eq!(bodies[0]["model"], "mini");
    assert_eq!(bodies[0]["input"], json!(["felines that bark"]));
    let inputs = bodies[1]["input"].as_array().expect("texts");
    assert_eq!(inputs.len(), 2);

    write(&notes.vault, "dogs.md", "dogs bark loudly");
    notes.server.queue_reply(embed, vectors(&[[0.0, 1.0]]));
    notes.server.queue_reply(embed, vectors(&[[0.0, 1.0]]));
    assert_eq!(
        notes.found("hounds").await,
        ["dogs.md"],
        "the note about cats is too different"
    );
    assert_eq!(
        notes.server.bodies(embed)[3]["input"],
        json!(["dogs\n\ndogs bark loudly"])
    );
}

#[tokio::test]
async fn without_a_usable_embedding_model_words_are_compared() {
    let notes = NotesFixture::new(&[("a.md", "cats")]);
    let found = notes
        .call("search_notes", json!({ "query": "cats" }))
        .await
        .expect("found");
    assert_eq!(found["results"][0]["score"], 1.0);
    assert_eq!(
        found["remarks"][0],
        "Only words were compared: no `notes.embedModel` is configured."
    );

    let notes = NotesFixture::with_settings(&[("a.md", "cats")], json!({ "embedModel": "gone" }));
    notes.server.always_reply(
        "/api/embed",
        model_server::ollama_error(404, "model \"gone\" not found"),
    );
    let found = notes
        .call("search_notes", json!({ "query": "cats" }))
        .await
        .expect("found");
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1));
    let remark = found["remarks"][0].as_str().expect("a remark");
    assert!(
        remark.starts_with("Only words were compared. ") && remark.contains("gone"),
        "{remark}"
    );
}
