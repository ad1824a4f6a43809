//! Decides which of the found servers are added, and under which names.

use super::FoundServer;
use crate::domain::{ImportPlan, NewServer, NewServerLaunch, ServerCandidate, SkippedServer};

/// Compares the found servers with those that exist. A server that is already there with the same
/// launch is skipped; if only its name is taken, it is renamed. `check` gives the reason why a
/// server cannot be added, as a sentence.
pub fn plan_import(
    found: Vec<FoundServer>,
    existing: &[(String, Option<NewServerLaunch>)],
    check: impl Fn(&NewServer) -> Result<(), String>,
) -> ImportPlan {
    let mut taken = existing.to_vec();
    let mut plan = ImportPlan::default();
    for FoundServer { name, result } in found {
        let skipped = |reason: String, is_already_there: bool| SkippedServer {
            name: name.clone(),
            reason,
            is_already_there,
        };
        let planned = result
            .map_err(|reason| skipped(reason, false))
            .and_then(|candidate| {
                with_free_name(candidate, &taken).map_err(|reason| skipped(reason, true))
            })
            .and_then(|candidate| match check(&candidate.server) {
                Ok(()) => Ok(candidate),
                Err(why) => Err(skipped(why.trim_end_matches('.').to_owned(), false)),
            });
        match planned {
            Ok(candidate) => {
                let server = &candidate.server;
                taken.push((server.name.clone(), Some(server.launch.clone())));
                plan.candidates.push(candidate);
            }
            Err(skipped) => plan.skipped.push(skipped),
        }
    }
    plan
}

/// The server under the first name that is free: `name`, `name-2`, `name-3`, … The error is the
/// reason for skipping it: the same server already exists.
fn with_free_name(
    mut candidate: ServerCandidate,
    taken: &[(String, Option<NewServerLaunch>)],
) -> Result<ServerCandidate, String> {
    let name = candidate.server.name.clone();
    for number in 1_usize.. {
        let attempt = match number {
            1 => name.clone(),
            _ => format!("{name}-{number}"),
        };
        let Some((_, launch)) = taken.iter().find(|(other, _)| *other == attempt) else {
            if number > 1 {
                let remark = format!("Renamed, because `{name}` is taken by a different server.");
                candidate.remarks.push(remark);
            }
            candidate.server.name = attempt;
            return Ok(candidate);
        };
        if launch
            .as_ref()
            .is_some_and(|launch| is_same(launch, &candidate.server.launch))
        {
            return Err(match number {
                1 => "you already have it".to_owned(),
                _ => format!("you already have it as `{attempt}`"),
            });
        }
    }
    unreachable!("there are more numbers than servers")
}

/// The order of variables does not matter.
fn is_same(left: &NewServerLaunch, right: &NewServerLaunch) -> bool {
    let sorted = |launch: &NewServerLaunch| {
        let mut launch = launch.clone();
        launch.env_or_headers_mut().sort();
        launch
    };
    sorted(left) == sorted(right)
}
