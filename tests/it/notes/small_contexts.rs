//! Summaries in contexts that do not hold six long chunks.

use super::*;

/// Four words, the first of which is the topic.
const SENTENCE: &str = "관측 장비를 꼼꼼히 점검한다. ";

#[tokio::test]
async fn a_summary_of_a_topic_has_as_many_chunks_as_the_context_holds() {
    let text = format!("# 관측\n\n{}", SENTENCE.repeat(110));
    let names: Vec<String> = (0..8).map(|number| format!("{number}.md")).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
    for (context, chunks, sentences) in [(32_768, 6, 660), (8_192, 5, 550), (4_096, 3, 225)] {
        let notes = NotesFixture::new(&notes);
        let info = json!({ "general.architecture": "x", "x.context_length": context });
        let shown = json!({ "model_info": info, "capabilities": ["completion"] });
        let server = &notes.server;
        server.always_reply("/api/show", Reply::json(200, &shown));
        server.queue_reply("/api/chat", ollama_text(&["점검한다."]));
        let arguments = json!({ "mode": "topic", "topic": "관측" });
        let summarized = notes.call("summarize_notes", arguments).await;
        let summarized = summarized.expect("a summary");
        assert_eq!(summarized["summary"], "점검한다.");
        let body = server.bodies("/api/chat").remove(0);
        let prompt = body["messages"][0]["content"].as_str().expect("a prompt");
        assert_eq!(prompt.matches("\n# 관측").count(), chunks, "{context}");
        assert_eq!(prompt.matches("점검한다.").count(), sentences, "{context}");
        let sources = summarized["sourceFiles"].as_array().map(Vec::len);
        assert_eq!(sources, Some(chunks));
        let remarks = summarized["remarks"].to_string();
        let says_so = remarks.contains("Only parts of the notes were summarized");
        assert_eq!(says_so, chunks < 6, "{remarks}");
    }
}
