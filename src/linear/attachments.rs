//! The files of the message.

use super::lists::picked;
use super::state::Linear;
use crate::domain::attachment::{ATTACHMENTS_MAX, AttachmentSource, ReadAttachment};
use crate::domain::{Notice, QueryId, ServerId};
use crate::protocol::{Command, ServerContentCommand};
use crate::text::Clean;

impl Linear {
    pub fn read_file(&mut self, source: AttachmentSource) {
        if self.attachments.len() + self.reading.len() >= ATTACHMENTS_MAX {
            return self.say(&format!("At most {ATTACHMENTS_MAX} files can be attached."));
        }
        let query = self.next_query();
        self.reading.insert(query);
        self.send(Command::Attach { query, source });
    }

    pub fn attachment_read(&mut self, query: QueryId, result: Result<ReadAttachment, Notice>) {
        if !self.reading.remove(&query) {
            return;
        }
        let read = match result {
            Ok(read) => read,
            Err(notice) => {
                self.notify(notice);
                if let Some(text) = self.waiting_message.take() {
                    self.say(&format!("Your message was not sent:\n{text}"));
                }
                return;
            }
        };
        let name = Clean::name(&read.attachment.name);
        self.say(&format!(
            "Attached {name}, about {} tokens. It is sent with the next message; /detach removes it.",
            read.tokens
        ));
        if read.may_hold_secrets {
            self.say("Warning: this file probably holds credentials. /detach removes it.");
        }
        self.attachments.push(read.attachment);
        if self.reading.is_empty()
            && let Some(text) = self.waiting_message.take()
        {
            self.submit_with_files(text);
        }
    }

    /// `/detach [NUMBER|NAME]`: removes the named file, or the last one.
    pub fn detach(&mut self, argument: &str) {
        let by_name = self
            .attachments
            .iter()
            .position(|file| file.name == argument);
        let by_number = argument
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1));
        let index = match argument {
            "" => self.attachments.len().checked_sub(1),
            _ => by_name.or(by_number.filter(|index| *index < self.attachments.len())),
        };
        match index {
            Some(index) => {
                let file = self.attachments.remove(index);
                self.say(&format!("Removed {}.", Clean::name(&file.name)));
            }
            None if argument.is_empty() => self.say("No file is attached."),
            None => self.say("No such file is attached."),
        }
    }

    /// `/resource [SERVER:URI]`: attaches a resource of a server.
    pub fn resource(&mut self, argument: &str) {
        self.send(Command::ServerContent(ServerContentCommand::Refresh));
        let mut rows = Vec::new();
        let mut resources: Vec<(ServerId, String)> = Vec::new();
        for server in self.servers.iter().filter(|server| server.enabled) {
            for resource in &server.content.resources {
                let uri = format!("{}:{}", server.id, resource.uri);
                let uri = Clean::unambiguous_line(&uri).as_str().to_owned();
                rows.push((
                    uri,
                    Clean::single_line(resource.label()).as_str().to_owned(),
                ));
                resources.push((server.id.clone(), resource.uri.clone()));
            }
        }
        if !argument.is_empty() {
            return self.attach_named_resource(argument, &resources);
        }
        if resources.is_empty() {
            return self.say("No server lists a resource.");
        }
        self.pick("Resources", "Attach none", &rows, move |linear, index| {
            let (server, uri) = resources[index].clone();
            linear.attach_resource(server, uri);
        });
    }

    fn attach_named_resource(&mut self, argument: &str, listed: &[(ServerId, String)]) {
        if let Some((server, uri)) = picked(listed, argument) {
            return self.attach_resource(server.clone(), uri.clone());
        }
        let servers = self.servers.iter();
        let typed = servers.filter_map(|server| {
            let uri = argument
                .strip_prefix(server.id.as_str())?
                .strip_prefix(':')?;
            Some((server.id.clone(), uri.to_owned()))
        });
        // A server's name may contain a colon, so several names may match. The longest one wins.
        match typed.max_by_key(|(server, _)| server.as_str().len()) {
            Some((server, uri)) if !uri.is_empty() => self.attach_resource(server, uri),
            _ => {
                let name = Clean::single_line(argument);
                let notice = Notice::warning(format!("No server matches `{name}`."));
                self.notify(notice.with_advice("/resource lists all resources."));
            }
        }
    }

    fn attach_resource(&mut self, server: ServerId, uri: String) {
        self.read_file(AttachmentSource::Resource { server, uri });
    }
}
