//! Prompt templates as slash commands: `/NAME` with values sends the filled text, and a form asks
//! for values that are missing.

mod form;
pub mod problems;

use crate::commands::find_command;
use crate::domain::{Notice, PromptTemplate};
use crate::text::Clean;
use crate::tui::layer::{SharedUiState, UiContext, UiRequest};
use form::TemplateForm;

/// The templates that can be typed as commands: built-in commands take precedence.
pub fn listed_templates<'a>(
    shared: SharedUiState<'a>,
) -> impl Iterator<Item = &'a PromptTemplate> + use<'a> {
    let templates = shared.engine.templates.list.iter();
    templates.filter(|template| !is_hidden(template))
}

/// Whether a built-in command has the name of this template.
fn is_hidden(template: &PromptTemplate) -> bool {
    find_command(&command(template)).is_some()
}

/// The raw command of a template.
pub fn command(template: &PromptTemplate) -> String {
    format!("/{}", template.name)
}

/// The description, or why the template cannot be used.
pub fn description(template: &PromptTemplate) -> Clean {
    match &template.body {
        Ok(_) => Clean::single_line(&template.description),
        Err(why) => Clean::single_line(&format!("cannot be used: {why}")),
    }
}

/// The fields as the syntax of the command's argument, such as `LANGUAGE TEXT`.
pub fn usage(template: &PromptTemplate) -> Clean {
    let fields = template.body.as_ref().map_or(&[][..], |body| body.fields());
    Clean::single_line(&fields.join(" ").to_uppercase())
}

/// Sends the text of a template with the values in `argument`, or asks for the missing ones.
/// Returns false if the template is unusable.
pub fn use_template(template: &PromptTemplate, argument: &str, cx: &mut UiContext) -> bool {
    let body = match &template.body {
        Ok(body) => body,
        Err(why) => {
            let message = format!("prompts/{}.md cannot be used: {why}.", template.name);
            cx.notify(Notice::warning(message).with_advice(problems::correction(template)));
            return false;
        }
    };
    let values = body.split_argument(argument);
    if body.fields().is_empty() && !argument.is_empty() {
        // Without fields, the typed text is appended to the template.
        let text = format!("{}\n\n{argument}", body.fill(&[]));
        cx.request(UiRequest::SubmitPrompt(text));
    } else if values.len() == body.fields().len() {
        cx.request(UiRequest::SubmitPrompt(body.fill(&values)));
    } else {
        cx.open(TemplateForm::new(
            template.name.clone(),
            body.clone(),
            &values,
        ));
    }
    true
}
