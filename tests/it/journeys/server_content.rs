//! Server prompts and resources: lists, forms with completion, review, attaching.

use super::in_memory_server::InMemoryServer;
use super::*;
use serde_json::{Value, json};

const TAB: KeyCode = KeyCode::Tab;
const DOWN: KeyCode = KeyCode::Down;
pub(super) const ESC: KeyCode = KeyCode::Esc;
pub(super) const NONE: KeyModifiers = KeyModifiers::NONE;

fn message(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}

pub(super) fn prompts() -> Value {
    json!({ "prompts": [
        { "name": "help", "description": "Named like a command." },
        { "name": "weather", "title": "Weather\u{1b}[31m report", "arguments": [
            { "name": "city", "description": "Where", "required": true },
            { "name": "unit" },
        ] },
    ] })
}

fn resources() -> Value {
    json!({ "resources": [
        { "uri": "file:///etc/passwd", "name": "secrets", "mimeType": "text/plain", "size": 2_048 },
        { "uri": "note://two", "name": "Second note" },
    ] })
}

pub(super) fn library() -> InMemoryServer {
    InMemoryServer::default()
        .with_answer("prompts/list", prompts())
        .with_answer(
            "prompts/get",
            json!({ "messages": [message("user", "Tell me about\u{202e} 서울.")] }),
        )
        .with_answer("resources/list", resources())
        .with_answer(
            "resources/read",
            json!({ "contents": [{ "uri": "file:///etc/passwd", "text": "from the server" }] }),
        )
        .with_answer(
            "completion/complete",
            json!({ "completion": { "values": ["서울", "수원"] } }),
        )
}

#[test]
fn a_prompt_is_completed_reviewed_and_sent() {
    let library = library();
    let mut chat = chat_with(&library, script().answer("Sunny."));
    chat.types("/prompt").enter();
    chat.sees("── Prompts").sees("humble:weather  Weather");
    chat.press(DOWN, NONE).enter();
    chat.sees("humble:weather").sees("required").sees("Where");
    chat.types("ㅅ")
        .waits(Duration::from_millis(200))
        .sees("수원");
    assert_eq!(
        library.last_params("completion/complete")["ref"],
        json!({ "type": "ref/prompt", "name": "weather" })
    );
    chat.press(DOWN, NONE).press(TAB, NONE).sees("서울").enter();
    chat.enter().sees("Tell me about⟨U+202E⟩ 서울.");
    chat.enter().sees("Esc discard");
    chat.reads_screen().enter().sees("Sunny.");
    chat.model_receives("Tell me about");
    let arguments = json!({ "city": "서울" });
    assert_eq!(library.last_params("prompts/get")["arguments"], arguments);
}

#[test]
fn a_prompt_typed_as_a_command_takes_its_values_from_the_line_and_can_be_edited() {
    let library = library();
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("/humble:wea")
        .sees("/humble:weather")
        .press(TAB, NONE);
    chat.types("Busan degrees Celsius").enter();
    let expected = json!({ "city": "Busan", "unit": "degrees Celsius" });
    assert_eq!(library.last_params("prompts/get")["arguments"], expected);
    chat.reads_screen().key('e').sees("› Tell me about");
    chat.types(" Briefly.").enter().sees("Ok.");
    chat.model_receives("서울. Briefly.");
}

#[test]
fn a_prompt_named_like_a_command_is_used_by_its_full_name() {
    let library = library();
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("/help").enter().does_not_see("Tell me about");
    chat.press(ESC, NONE);
    chat.types("/HUMBLE:help").enter().sees("Tell me about");
    chat.press(ESC, NONE).types("/humble:none").enter();
    chat.sees("Unknown command /humble:none.");
}

#[test]
fn several_messages_keep_their_roles_and_embedded_resources_are_attached_as_data() {
    let resource = json!({ "type": "resource", "resource": { "uri": "r://a", "text": "inside" } });
    let messages = json!({ "messages": [
        message("user", "Question"), message("assistant", "Answer"),
        { "role": "user", "content": resource },
    ] });
    let library = library().with_answer("prompts/get", messages);
    let mut chat = chat_with(&library, script().answer("Done."));
    chat.types("/humble:help").enter();
    chat.sees("Assistant:")
        .sees("@ humble:r://a")
        .sees("inside");
    chat.reads_screen().enter().sees("Done.");
    chat.model_receives("Assistant:\\nAnswer");
    chat.model_receives("[Start of attached file humble:r://a");
}

#[test]
fn a_server_prompt_that_fails_to_load_restores_the_form_with_its_values() {
    let library = library().with_answer("prompts/get", json!({ "messages": "none" }));
    let mut chat = chat_with(&library, script());
    chat.types("/humble:weather Busan").enter();
    chat.sees("could not be loaded").sees("no `messages`");
    chat.sees("city  Busan").sees("Enter show the prompt");
}

#[test]
fn a_prompt_that_asks_for_input_is_shown_once_the_question_is_answered() {
    let schema = json!({ "type": "object", "properties": { "shelf": { "type": "string" } } });
    let asked = json!({ "resultType": "input_required", "requestState": "s1", "inputRequests": {
        "a": { "method": "elicitation/create",
               "params": { "mode": "form", "message": "Which shelf?", "requestedSchema": schema } },
    } });
    let library = library().with_answer("prompts/get", asked);
    let mut chat = chat_with(&library, script());
    chat.types("/humble:help").enter();
    chat.sees("Loading").sees("Alt+Q opens it.");
    chat.press(KeyCode::Char('q'), KeyModifiers::ALT)
        .sees("Which shelf?");
    library.set_answer(
        "prompts/get",
        json!({ "messages": [message("user", "The book is here.")] }),
    );
    chat.reads_screen().key('e').types("1234").enter();
    chat.reads_screen().key('y').sees("The book is here.");
    let answers = &library.last_params("prompts/get")["inputResponses"]["a"];
    assert_eq!(
        answers,
        &json!({ "action": "accept", "content": { "shelf": "1234" } })
    );
}

#[test]
fn completions_that_never_arrive_leave_the_form_usable() {
    let library = library().with_answer("completion/complete", Value::Null);
    let mut chat = chat_with(&library, script());
    chat.types("/humble:weather")
        .enter()
        .sees("required")
        .sees("Where");
    chat.waits(Duration::from_secs(10)).types("Seoul").enter();
    chat.enter().sees("Tell me about");
}

#[test]
fn a_missing_required_argument_of_a_server_prompt_is_reported() {
    let mut chat = chat_with(&library(), script());
    chat.types("/humble:weather").enter();
    chat.enter().enter().sees("`city` is required.");
    chat.does_not_see("Tell me about");
}

#[test]
fn a_resource_is_read_from_its_server_and_sent_as_data() {
    let library = library();
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("/resource").enter();
    chat.sees("humble:secrets").sees("text/plain, 2 kB").enter();
    chat.sees("@ humble:file:///etc/passwd").sees("tokens");
    chat.types("Summarize.").enter().sees("Ok.");
    chat.model_receives("from the server");
    chat.model_does_not_receive("root:");
}

#[test]
fn a_resource_template_is_found_by_its_name_although_its_title_is_shown() {
    let template = json!({ "resourceTemplates": [
        { "uriTemplate": "db://{id}", "name": "invoices", "title": "Bills" },
    ] });
    let library = library().with_answer("resources/templates/list", template);
    let mut chat = chat_with(&library, script());
    chat.types("/resource").enter();
    chat.sees("Bills").types("invoic").sees("humble:Bills");
}

#[test]
fn an_at_sign_completes_resources() {
    let library = library();
    let mut chat = chat_with(&library, script().answer("Ok."));
    chat.types("See @humble:note");
    chat.waits_until_sees("humble:note://two")
        .sees("Second note");
    chat.press(TAB, NONE).sees("See @humble:note://two");
    chat.enter().sees("Ok.");
    chat.model_receives("[Start of attached file humble:note://two");
}

#[test]
fn a_binary_resource_is_reported_and_not_attached() {
    let blob = json!({ "contents": [{ "uri": "b", "blob": "AAAA" }] });
    let library = library().with_answer("resources/read", blob);
    let mut chat = chat_with(&library, script());
    chat.types("/resource humble:b").enter();
    chat.sees("humble:b is a binary file, not text.");
    chat.does_not_see("Alt+X");
}

#[test]
fn a_changed_list_keeps_the_selected_row_and_never_runs_another() {
    let library = library();
    let mut chat = chat_with(&library, script());
    chat.types("/prompt").enter().press(DOWN, NONE);
    let first = json!({ "name": "a-new-one" });
    let mut changed = prompts();
    let list = changed["prompts"].as_array_mut().expect("a list");
    list.insert(0, first);
    library.replace_list("prompts/list", changed);
    chat.waits_until_sees("changed its prompts: added `a-new-one`");
    chat.sees("▌ humble:weather");
    library.replace_list("prompts/list", json!({ "prompts": [{ "name": "other" }] }));
    chat.waits_until_sees("humble:other");
    chat.enter();
    assert!(
        !library
            .requested_methods()
            .contains(&"prompts/get".to_owned())
    );
    chat.enter().sees("Tell me about");
}

#[test]
fn a_server_without_prompts_and_resources_is_never_asked_for_them() {
    let server = InMemoryServer::default().with_answering_tool("a", "b");
    let mut chat = chat_with(&server, script());
    chat.types("/prompt").enter();
    chat.sees("No server offers prompts. Type /NAME to use your own file prompts/NAME.md.");
    chat.press(ESC, NONE).types("/resource").enter();
    chat.sees("No connected server offers resources.");
    assert_eq!(server.requested_methods(), Vec::<String>::new());
}

#[test]
fn a_server_with_a_log_is_asked_for_its_messages_once() {
    let server = InMemoryServer::default().with_answer("logging/setLevel", json!({}));
    chat_with(&server, script()).sees("tools");
    assert_eq!(server.requested_methods(), ["logging/setLevel"]);
}

/// A chat in which a tool has returned these links, and its call is selected.
fn with_links(library: &InMemoryServer, uris: &[&str]) -> Chat {
    let links = uris
        .iter()
        .map(|uri| json!({ "type": "resource_link", "uri": uri, "name": "n" }));
    let result = json!({ "content": links.collect::<Vec<_>>() });
    let library = library.clone().with_result("links", result);
    let call = json!({ "server": "humble", "name": "links", "arguments": {} });
    let script = script().answer(&call.to_string()).answer("Here they are.");
    let mut chat = chat_with(&library, script);
    chat.says("/set-tool-mode auto").says("Find notes.");
    chat.sees("Here they are.");
    chat.press(TAB, NONE);
    for _ in 0..10 {
        chat.press(KeyCode::Up, NONE);
        if chat
            .screen()
            .lines()
            .any(|row| row.contains('▌') && row.contains(" links "))
        {
            return chat;
        }
    }
    panic!("{}", chat.screen());
}

#[test]
fn a_linked_resource_of_a_result_is_attached_with_a_key() {
    let library = library();
    let mut chat = with_links(&library, &["note://two"]);
    chat.key('l').waits_until_sees("@ humble:note://two");
    assert_eq!(library.last_params("resources/read")["uri"], "note://two");
}

#[test]
fn the_user_chooses_among_several_linked_resources() {
    let library = library();
    let mut chat = with_links(&library, &["note://one", "note://two"]);
    chat.key('l').sees("Linked resources").sees("note://one");
    assert_eq!(library.count("resources/read"), 0);
    chat.key('2').waits_until_sees("@ humble:note://two");
    assert_eq!(library.last_params("resources/read")["uri"], "note://two");
}

#[test]
fn a_result_without_links_shows_a_notice() {
    let library = library();
    let mut chat = with_links(&library, &[]);
    chat.key('l').sees("This result has no link to a resource.");
}
