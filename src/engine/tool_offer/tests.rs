//! Which tools are offered, and in which order.

use super::*;
use crate::domain::Toolset;
use crate::fixtures::{described_tool, server, tool};

fn names(offered: &Toolset) -> Vec<&str> {
    let tools = offered.tools().iter();
    tools.map(|offered| offered.native_name.as_str()).collect()
}

fn all_tools(offer: &mut ToolOffer, toolset: &Toolset) -> Arc<Toolset> {
    let request = OfferRequest {
        prompt: "",
        tokens_max: None,
        always_offered: &BTreeSet::new(),
    };
    offer.for_turn(&Arc::new(toolset.clone()), request)
}

#[test]
fn late_servers_and_new_tools_come_last_and_returning_tools_keep_their_place() {
    let files = server("files", vec![tool("read"), tool("write")]);
    let clock = server("clock", vec![tool("now")]);
    let mut offer = ToolOffer::default();
    let first = Toolset::from_servers([&files]);
    assert_eq!(
        names(&all_tools(&mut offer, &first)),
        ["files__read", "files__write"]
    );
    // The clock is first in the settings, but connects late.
    let all = Toolset::from_servers([&clock, &files]);
    let expected = ["files__read", "files__write", "clock__now"];
    assert_eq!(names(&all_tools(&mut offer, &all)), expected);
    let without_files = Toolset::from_servers([&clock]);
    assert_eq!(
        names(&all_tools(&mut offer, &without_files)),
        ["clock__now"]
    );
    let more = server("files", vec![tool("append"), tool("read"), tool("write")]);
    let all = Toolset::from_servers([&clock, &more]);
    let offered = all_tools(&mut offer, &all);
    let expected = ["files__read", "files__write", "clock__now", "files__append"];
    assert_eq!(names(&offered), expected);
    assert!(
        Arc::ptr_eq(&offered, &all_tools(&mut offer, &all)),
        "nothing changed"
    );
    offer.reset();
    let expected = ["clock__now", "files__append", "files__read", "files__write"];
    assert_eq!(names(&all_tools(&mut offer, &all)), expected);
}

#[test]
fn a_changed_definition_replaces_the_old_one_in_its_place() {
    let mut offer = ToolOffer::default();
    let before = server("files", vec![described_tool("read", "old"), tool("write")]);
    all_tools(&mut offer, &Toolset::from_servers([&before]));
    let after = server("files", vec![tool("write"), described_tool("read", "new")]);
    let offered = all_tools(&mut offer, &Toolset::from_servers([&after]));
    assert_eq!(names(&offered), ["files__read", "files__write"]);
    let description = offered.tools()[0].tool.description.as_deref();
    assert_eq!(description, Some("new"));
}
