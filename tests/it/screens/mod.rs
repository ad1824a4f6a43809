//! Snapshots of whole screens: usually at two sizes, and at five for the chat, the approval and the
//! list of conversations.

mod approvals;
mod attachments;
mod changed_keys;
mod chat;
mod dialogs;
mod forged_text;
mod imports;
mod log;
mod models;
mod pictures;
mod probe;
mod questions;
mod server_content;
mod server_requests;
mod servers;
mod sessions;
mod sign_in;
mod states;
mod tasks;
mod without_color;

use crate::support::screen_harness::{ScreenHarness, screen_harness};

/// Runs the same script at every size and joins the screens into one snapshot.
fn at_sizes(sizes: &[(u16, u16)], script: impl Fn(&mut ScreenHarness)) -> String {
    let screens: Vec<String> = sizes
        .iter()
        .map(|size| {
            let mut story = screen_harness(*size);
            script(&mut story);
            format!("{}x{}\n{}", size.0, size.1, story.screen())
        })
        .collect();
    screens.join("\n\n")
}

fn at_two_sizes(script: impl Fn(&mut ScreenHarness)) -> String {
    at_sizes(&[(80, 24), (120, 40)], script)
}

fn at_five_sizes(script: impl Fn(&mut ScreenHarness)) -> String {
    at_sizes(&[(80, 24), (120, 40), (60, 20), (200, 60), (20, 6)], script)
}
