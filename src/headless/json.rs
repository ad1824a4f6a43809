//! Events as JSON for scripts. `type` names the event in snake_case; text is not sanitized.

use super::advice;
use crate::domain::{
    Banner, BannerCause, Notice, Server, ServerStatus, Severity, TurnEnd, TurnEvent,
};
use crate::protocol::Event;
use serde_json::{Value, json};

/// `None` for events that only the chat screen needs.
pub fn event_json(event: &Event) -> Option<Value> {
    let value = match event {
        Event::Turn(turn, event) => {
            let mut value = json!({ "type": Value::Null, "turn": turn });
            let body = serde_json::to_value(event).ok()?;
            let object = value.as_object_mut()?;
            object.extend(body.as_object()?.clone());
            match event {
                TurnEvent::Noted(notice) | TurnEvent::AgentFailed(notice) => {
                    add_advice(&mut value, notice);
                }
                TurnEvent::Retrying { why, .. } => add_advice(&mut value["why"], why),
                TurnEvent::Ended {
                    end: TurnEnd::Failed { notice },
                    ..
                } => add_advice(&mut value["end"]["notice"], notice),
                _ => {}
            }
            value
        }
        Event::Asked { ask, question, .. } => {
            let mut value = json!({ "type": "asked", "ask": ask });
            value["question"] = question.kind.into();
            match question.calls() {
                [] => {
                    value["choices"] = question
                        .choices
                        .iter()
                        .map(|row| json!(row.choice))
                        .collect()
                }
                calls => value["calls"] = calls.iter().map(|call| json!(call.call)).collect(),
            }
            value
        }
        Event::AskClosed(ask) => json!({ "type": "ask_closed", "ask": ask }),
        Event::ServerChanged(server) => server_line(server),
        Event::NoticePosted(notice) | Event::LowPriorityNoticePosted(notice) => {
            json!({ "type": "noticed", "notice": notice_json(notice) })
        }
        Event::BannersChanged(banners) => {
            let banner = |banner: &Banner| json!({ "cause": banner.cause, "notice": notice_json(&banner.notice) });
            let banners: Vec<Value> = banners.iter().map(banner).collect();
            json!({ "type": "banners_changed", "banners": banners })
        }
        Event::ContextMeasured(meter) => json!({ "type": "context_measured", "meter": meter }),
        Event::SessionSaved(id) => json!({ "type": "session_saved", "session": id }),
        _ => return None,
    };
    Some(value)
}

fn notice_json(notice: &Notice) -> Value {
    let mut value = json!(notice);
    add_advice(&mut value, notice);
    value
}

/// Adds the advice, which a notice does not serialize by itself.
fn add_advice(value: &mut Value, notice: &Notice) {
    if let Some(advice) = advice::advice_text(notice) {
        value["advice"] = advice.into();
    }
}

/// Whether the event is about saving the conversation or about its files, or reports a failure. After
/// the turn, only these events are printed.
pub fn is_about_saving(event: &Event) -> bool {
    match event {
        Event::SessionSaved(_) | Event::LowPriorityNoticePosted(_) => true,
        Event::NoticePosted(notice) => notice.severity == Severity::Failure,
        Event::BannersChanged(banners) => banners
            .iter()
            .any(|banner| banner.cause == BannerCause::UnsavedSession),
        _ => false,
    }
}

fn server_line(server: &Server) -> Value {
    let (status, why) = match &server.status {
        ServerStatus::Off => ("off", None),
        ServerStatus::Starting => ("starting", None),
        ServerStatus::Connected => ("connected", None),
        ServerStatus::Failed(notice) => ("failed", Some(advice::notice_line(notice))),
        ServerStatus::NeedsSignIn(notice) => ("needs_sign_in", Some(advice::notice_line(notice))),
        ServerStatus::Misconfigured(why) => ("misconfigured", Some(why.clone())),
    };
    let tools: Vec<&str> = server
        .available_tools()
        .map(|tool| tool.name.as_str())
        .collect();
    let mut line =
        json!({ "type": "server_changed", "server": server.id, "status": status, "tools": tools });
    if let Some(why) = why {
        line["why"] = why.into();
    }
    line
}
