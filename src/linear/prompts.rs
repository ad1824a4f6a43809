//! `/prompt`: prompts of servers and the user's templates. A prompt of a server is shown in full
//! before it is sent.

use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::{
    ContentArgument, LoadedPrompt, Notice, Prompt, PromptTemplate, QueryId, ServerId, ServerPrompt,
};
use crate::protocol::{Command, ServerContentCommand};
use crate::text::Clean;
use std::sync::Arc;

impl Linear {
    /// `/prompt [SERVER:PROMPT [VALUES]]`.
    pub fn server_prompt(&mut self, argument: &str) {
        let (name, values) = argument
            .split_once(char::is_whitespace)
            .unwrap_or((argument, ""));
        if !argument.is_empty() {
            if self.use_server_prompt(name, values.trim()) {
                return;
            }
            if let Some(template) = self.engine.templates.find(name).cloned() {
                return self.use_template(&template, values.trim());
            }
            let notice = Notice::warning(format!("There is no prompt `{}`.", Clean::name(name)));
            return self.notify(notice.with_advice("/prompt lists them all."));
        }
        self.send(Command::ServerContent(ServerContentCommand::Refresh));
        self.send(Command::ListPromptTemplates);
        let prompts = self.offered_prompts();
        let mut names: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        for (server, prompt) in &prompts {
            let name = format!("{server}:{}", prompt.name);
            let note = prompt.description.clone().unwrap_or_default();
            rows.push((Clean::name(&name).as_str().to_owned(), note));
            names.push(name);
        }
        for template in &self.engine.templates.list {
            let name = template.name.clone();
            rows.push((name.clone(), template.description.clone()));
            names.push(name);
        }
        if names.is_empty() {
            return self.say("No server lists a prompt, and the folder `prompts` has no template.");
        }
        self.pick(
            "Prompts",
            "Use none",
            &rows,
            move |linear, index| match linear.engine.templates.find(&names[index]).cloned() {
                Some(template) if !linear.is_server_prompt(&names[index]) => {
                    linear.use_template(&template, "");
                }
                _ => {
                    linear.use_server_prompt(&names[index], "");
                }
            },
        );
    }

    fn offered_prompts(&self) -> Vec<(ServerId, ServerPrompt)> {
        let servers = self.servers.iter().filter(|server| server.enabled);
        let prompts = servers.flat_map(|server| {
            let prompts = server.content.prompts.iter();
            prompts.map(|prompt| (server.id.clone(), prompt.clone()))
        });
        prompts.collect()
    }

    fn is_server_prompt(&self, name: &str) -> bool {
        let prompts = self.offered_prompts();
        prompts
            .iter()
            .any(|(server, prompt)| format!("{server}:{}", prompt.name) == name)
    }

    /// Loads a prompt after asking for its missing arguments. Returns false if there is none of this
    /// name.
    pub fn use_server_prompt(&mut self, name: &str, typed: &str) -> bool {
        let lowercase = name.to_lowercase();
        let prompts = self.offered_prompts();
        let full_name =
            |server: &ServerId, prompt: &ServerPrompt| format!("{server}:{}", prompt.name);
        let exact = prompts
            .iter()
            .find(|(server, prompt)| full_name(server, prompt) == name);
        let other_case = || {
            prompts
                .iter()
                .find(|(server, prompt)| full_name(server, prompt).to_lowercase() == lowercase)
        };
        let Some((server, prompt)) = exact.or_else(other_case).cloned() else {
            return false;
        };
        let values = split_values(typed, &prompt.arguments);
        self.fill_prompt(server, prompt, values);
        true
    }

    /// Asks for the arguments one by one.
    fn fill_prompt(&mut self, server: ServerId, prompt: ServerPrompt, mut values: Vec<String>) {
        let Some(argument) = prompt.arguments.get(values.len()) else {
            return self.load_prompt(server, &prompt, values);
        };
        let need = if argument.is_required {
            "required"
        } else {
            "may be empty"
        };
        let question = format!("{} ({need}): ", Clean::name(argument.label()));
        let is_required = argument.is_required;
        self.ask_text(&question, move |linear, value| {
            let value = value.trim().to_owned();
            if value.is_empty() && is_required {
                return linear.say("The prompt was not used, because a value is missing.");
            }
            values.push(value);
            linear.fill_prompt(server, prompt, values);
        });
    }

    fn load_prompt(&mut self, server: ServerId, prompt: &ServerPrompt, values: Vec<String>) {
        let query = self.next_query();
        let names = prompt
            .arguments
            .iter()
            .map(|argument| argument.name.clone());
        let arguments = names
            .zip(values)
            .filter(|(_, value)| !value.is_empty())
            .collect();
        self.pending = PendingReply::ServerPrompt(query);
        self.send(Command::ServerContent(ServerContentCommand::LoadPrompt {
            query,
            server,
            prompt: prompt.name.clone(),
            arguments,
        }));
    }

    /// Shows the loaded prompt, and sends it after a question.
    pub fn prompt_loaded(&mut self, query: QueryId, result: Result<Arc<LoadedPrompt>, Notice>) {
        match &self.pending {
            PendingReply::ServerPrompt(wanted) if *wanted == query => {}
            _ => return,
        }
        self.pending = PendingReply::None;
        let loaded = match result {
            Ok(loaded) => loaded,
            Err(notice) => return self.notify(notice),
        };
        self.say("The server wrote this prompt. Lines marked with | are its text:");
        for line in loaded.text.lines() {
            let line = Clean::unambiguous_line(line);
            self.say(&format!("  | {line}"));
        }
        let count = loaded.files.len();
        if count > 0 {
            self.say(&format!(
                "It comes with {count} file{}.",
                if count == 1 { "" } else { "s" }
            ));
        }
        self.confirm("Send it as your message?", move |linear| {
            let files = loaded.files.iter().map(|file| Arc::clone(&file.attachment));
            let attachments = std::mem::take(&mut linear.attachments);
            let attachments = attachments.into_iter().chain(files).collect();
            linear.submit(Prompt::new(loaded.text.clone()).with_attachments(attachments));
        });
    }

    /// Sends the text of a template after asking for its missing fields.
    pub fn use_template(&mut self, template: &PromptTemplate, typed: &str) {
        let body = match &template.body {
            Ok(body) => body.clone(),
            Err(why) => {
                let name = &template.name;
                return self.say(&format!(
                    "/{name} cannot be used: {why}. Correct its file in the folder `prompts`."
                ));
            }
        };
        if body.fields().is_empty() {
            let text = match typed {
                "" => body.fill(&[]),
                typed => format!("{}\n\n{typed}", body.fill(&[])),
            };
            return self.submit(Prompt::new(text));
        }
        let values = body.split_argument(typed);
        self.fill_template(body, values);
    }

    fn fill_template(&mut self, body: crate::domain::TemplateBody, mut values: Vec<String>) {
        let Some(field) = body.fields().get(values.len()).cloned() else {
            let text = body.fill(&values);
            return self.submit(Prompt::new(text));
        };
        self.ask_text(&format!("{field}: "), move |linear, value| {
            values.push(value);
            linear.fill_template(body, values);
        });
    }
}

/// Splits typed values at white space; the last argument takes the rest.
fn split_values(text: &str, arguments: &[ContentArgument]) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && values.len() < arguments.len() {
        let is_last = values.len() + 1 == arguments.len();
        let (value, after) = match is_last {
            true => (rest, ""),
            false => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        values.push(value.to_owned());
        rest = after.trim_start();
    }
    values
}
