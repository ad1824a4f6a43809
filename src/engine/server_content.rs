//! Loads server prompts and resources for the user, and completes their arguments, in the background.

use super::cx::EngineCx;
use super::injection_guard::InjectionGuard;
use super::jobs::JobResult;
use crate::attachments::{AttachError, attach_resource};
use crate::domain::attachment::{ATTACHMENTS_MAX, AttachedResource, ReadAttachment};
use crate::domain::{ArgumentCompletion, LoadedPrompt, Notice, QueryId, QuoteSource, ServerId};
use crate::mcp::{Hub, PromptContents, PromptFile, ResourceContents};
use crate::protocol::{Event, ServerContentCommand, ServerContentEvent};
use crate::text::Clean;
use std::fmt::Write;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(super) struct ServerContentJobs {
    /// Cancels the latest completion request.
    completion: CancellationToken,
}

impl ServerContentJobs {
    pub(super) fn handle(
        &mut self,
        command: ServerContentCommand,
        hub: &Hub,
        guard: &InjectionGuard,
        cx: &mut EngineCx,
    ) {
        match command {
            ServerContentCommand::Refresh => hub.refresh_content(),
            ServerContentCommand::LoadPrompt {
                query,
                server,
                prompt,
                arguments,
            } => {
                let loading = hub.get_prompt(&server, &prompt, arguments);
                let guard = guard.clone();
                cx.jobs.spawn(async move {
                    let owner = server.clone();
                    let loaded = match loading.await {
                        Ok(contents) => run_blocking(move || loaded_prompt(&owner, contents)).await,
                        Err(why) => Err(why),
                    };
                    let result = match loaded {
                        Ok(loaded) => {
                            // The user sends it as a prompt, but a server wrote it.
                            guard.keep_of_message(QuoteSource::ServerText, &loaded.text);
                            Ok(Arc::new(loaded))
                        }
                        Err(why) => Err(failure("Prompt", &prompt, &server, &why)),
                    };
                    event(ServerContentEvent::PromptLoaded { query, result })
                });
            }
            ServerContentCommand::CompleteArgument { query, completion } => {
                self.complete(query, completion, hub, cx);
            }
            ServerContentCommand::FollowResource(AttachedResource { server, uri }) => {
                hub.follow_resource(&server, &uri);
            }
            ServerContentCommand::UnfollowResource(AttachedResource { server, uri }) => {
                hub.unfollow_resource(&server, &uri);
            }
        }
    }

    /// Replaces an earlier completion that has not been answered.
    fn complete(
        &mut self,
        query: QueryId,
        completion: ArgumentCompletion,
        hub: &Hub,
        cx: &mut EngineCx,
    ) {
        self.completion.cancel();
        self.completion = CancellationToken::new();
        let replaced = self.completion.clone();
        let completing = hub.complete_argument(completion);
        cx.jobs.spawn(async move {
            let values = tokio::select! {
                () = replaced.cancelled() => return JobResult::Nothing,
                values = completing => values,
            };
            let values = values.unwrap_or_else(|why| {
                tracing::debug!("no completions: {why}");
                Vec::new()
            });
            let values = Arc::new(values);
            event(ServerContentEvent::ArgumentCompleted { query, values })
        });
    }
}

/// Reads a resource in order to attach it; answered by [`Event::AttachmentRead`].
pub(super) fn read_resource(
    query: QueryId,
    server: ServerId,
    uri: String,
    hub: &Hub,
    cx: &mut EngineCx,
) {
    let reading = hub.read_resource(&server, &uri);
    cx.jobs.spawn(async move {
        let name = format!("{server}:{uri}");
        let attached = match reading.await {
            Ok(contents) => {
                run_blocking(move || attach_resource(&name, merge_contents(contents))).await
            }
            Err(why) => Err(why),
        };
        let result = match attached {
            Ok(attached) => attached.map_err(|error| error.notice()),
            Err(why) => Err(failure("Resource", &uri, &server, &why)),
        };
        JobResult::Events(vec![Event::AttachmentRead { query, result }])
    });
}

/// Runs `task` on a blocking thread: encoding and hashing several megabytes would delay the engine.
async fn run_blocking<T: Send + 'static>(
    task: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let result = tokio::task::spawn_blocking(task).await;
    result.map_err(|_| "reading it failed".to_owned())
}

fn event(event: ServerContentEvent) -> JobResult {
    JobResult::Events(vec![Event::ServerContent(event)])
}

fn failure(noun: &str, name: &str, server: &ServerId, why: &str) -> Notice {
    let (name, server) = (Clean::name(name), Clean::name(server.as_str()));
    // A clause, or sentences if the server could not be started.
    let why = Clean::single_line(why.trim_end_matches('.'));
    Notice::failure(format!(
        "{noun} `{name}` of server `{server}` could not be loaded: {why}."
    ))
}

/// The contents of a resource as one file. A resource with several contents, such as a folder,
/// becomes a text in which each text follows a line with its URI.
fn merge_contents(mut contents: Vec<ResourceContents>) -> Vec<u8> {
    if contents.len() == 1 {
        return contents.pop().map(|only| only.bytes).unwrap_or_default();
    }
    let mut text = String::new();
    for part in contents {
        let name = Clean::single_line(&part.name);
        let _ = match String::from_utf8(part.bytes) {
            Ok(part) => writeln!(text, "[resource: {name}]\n{part}"),
            Err(error) => {
                let bytes = error.into_bytes().len();
                writeln!(text, "[left out: {name}, {bytes} bytes that are not text]")
            }
        };
    }
    text.into_bytes()
}

/// Attaches the embedded contents of a prompt. Where one cannot be attached, the text says so.
fn loaded_prompt(server: &ServerId, contents: PromptContents) -> LoadedPrompt {
    let mut prompt = LoadedPrompt {
        text: contents.text,
        heading_lines: contents.heading_lines,
        message_count: contents.message_count,
        files: Vec::new(),
    };
    let mut failures = Vec::new();
    for file in contents.files {
        match attach_embedded(server, &file, prompt.files.len()) {
            Ok(attached) if is_attached(&prompt.files, &attached) => {}
            Ok(attached) => prompt.files.push(attached),
            Err(why) => failures.push((file.line, format!("[left out: {why}]"))),
        }
    }
    // From the last one on, so that the places of the others stay.
    for (line, text) in failures.into_iter().rev() {
        for start in &mut prompt.heading_lines {
            if *start >= line.end {
                *start = *start - line.len() + text.len();
            }
        }
        prompt.text.replace_range(line, &text);
    }
    prompt
}

/// The error is a clause.
fn attach_embedded(
    server: &ServerId,
    file: &PromptFile,
    attached_count: usize,
) -> Result<ReadAttachment, String> {
    let ResourceContents { name, bytes } = &file.contents;
    let shown = Clean::name(name);
    if attached_count >= ATTACHMENTS_MAX {
        return Err(format!(
            "{shown}, because at most {ATTACHMENTS_MAX} files can be attached"
        ));
    }
    let attached = attach_resource(&format!("{server}:{name}"), bytes.clone());
    match attached {
        Ok(attached) if file.is_image && !attached.attachment.is_image() => {
            Err(format!("{shown} is not an image"))
        }
        Err(AttachError::NotSupported { .. }) if file.is_image => {
            Err(format!("{shown} is not a PNG, JPEG, GIF or WebP image"))
        }
        Err(error) => {
            let why = error.to_string();
            let why = why.strip_prefix(&format!("{server}:")).unwrap_or(&why);
            Err(Clean::unambiguous_line(why).into())
        }
        Ok(attached) => Ok(attached),
    }
}

fn is_attached(files: &[ReadAttachment], file: &ReadAttachment) -> bool {
    files
        .iter()
        .any(|other| other.attachment == file.attachment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, bytes: &[u8]) -> ResourceContents {
        ResourceContents {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn several_contents_of_a_resource_become_one_text() {
        assert_eq!(merge_contents(vec![part("a", b"\xff")]), b"\xff");
        let merged = merge_contents(vec![part("r://a\n", b"one"), part("r://b", b"\xff\xfe")]);
        let expected = "[resource: r://a]\none\n[left out: r://b, 2 bytes that are not text]\n";
        let merged = String::from_utf8(merged).expect("text");
        assert_eq!(merged.replace("a ]", "a]"), expected);
    }

    #[test]
    fn contents_that_cannot_be_attached_are_reported_in_their_place() {
        let huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xc3\x50\0\0\xc3\x50\x08\x02\0\0\0";
        let files: [(&str, &[u8], bool); 8] = [
            ("a", b"text", false),
            ("a", b"text", false),
            ("b", b"\0\0", false),
            ("c\n", b"", false),
            ("image 1", b"text", true),
            ("image 2", b"\0\0", true),
            ("image 3", huge, true),
            ("d", b"more", false),
        ];
        let mut contents = PromptContents::default();
        for (name, bytes, is_image) in files {
            contents.heading_lines.push(contents.text.len());
            contents.text.push_str("User:\n");
            let start = contents.text.len();
            contents.text.push_str("[attached]");
            contents.files.push(PromptFile {
                contents: part(name, bytes),
                is_image,
                line: start..contents.text.len(),
            });
            contents.text.push('\n');
        }
        let prompt = loaded_prompt(&ServerId::new("s"), contents);
        let names: Vec<_> = prompt
            .files
            .iter()
            .map(|file| &*file.attachment.name)
            .collect();
        assert_eq!(names, ["s:a", "s:d"]);
        let lines: Vec<&str> = prompt
            .text
            .lines()
            .filter(|line| *line != "User:")
            .collect();
        assert_eq!(
            lines,
            [
                "[attached]",
                "[attached]",
                "[left out: b is a binary file, not text]",
                "[left out: c⟨LF⟩ is empty]",
                "[left out: image 1 is not an image]",
                "[left out: image 2 is not a PNG, JPEG, GIF or WebP image]",
                "[left out: image 3 has more than 100 megapixels]",
                "[attached]",
            ]
        );
        for start in prompt.heading_lines {
            assert!(prompt.text[start..].starts_with("User:\n"), "{start}");
        }
    }
}
