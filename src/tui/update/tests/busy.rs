//! What is refused while a turn or a probe runs, and why.

use crate::domain::probe::ProbeState;
use crate::tui::update::tests::*;

fn probe(is_finished: bool) -> Event {
    Event::ProbeChanged(Some(ProbeState {
        model: "m".into(),
        dialect: None,
        is_loading: false,
        is_finished,
    }))
}

#[test]
fn a_finished_probe_is_not_said_to_run() {
    let mut chat = chat();
    chat.engine_event(probe(false));
    chat.wait(10_000).keys("/fork<Enter>");
    assert!(
        chat.notice()
            .starts_with("A probe is still running. Ctrl+C")
    );
    chat.engine_event(probe(true));
    chat.wait(10_000).keys("/fork<Enter>");
    assert_eq!(
        chat.notice(),
        "The result of the probe waits for your answer."
    );
}

#[test]
fn refused_lists_of_branches_are_not_awaited() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("two<Enter>").model_says("2");
    chat.keys("<Tab><Up><Up>b<Tab>/branches<Enter>");
    assert_eq!(chat.model.conversation.requested_branch, None);
    assert!(chat.notice().starts_with("A turn is still running."));
}
