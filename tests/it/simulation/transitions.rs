//! Every change of state of a turn without a note agent. The simulation fails if a turn makes a
//! change that is not listed here, or if no turn makes one that is.

use humble::engine::turn::{TurnInput, TurnState};

/// An input without its data. Inputs that act alike share a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InputKind {
    Part,
    Heartbeat,
    ReplyRestarted,
    ReplyEnded,
    Idle,
    RetryDue,
    ArgumentsChecked,
    CallDone,
    CancelCall,
    ServersReady,
    Answered,
    Interrupt,
    ToolsetChanged,
    TrustChanged,
    Other,
}

pub type Transition = (TurnState, InputKind, TurnState);

pub fn kind_of(input: &TurnInput) -> InputKind {
    match input {
        TurnInput::Text(_)
        | TurnInput::Thinking(_)
        | TurnInput::TextWasThinking
        | TurnInput::Markup(_)
        | TurnInput::Call(_)
        | TurnInput::UnusableCall { .. } => InputKind::Part,
        TurnInput::Heartbeat => InputKind::Heartbeat,
        TurnInput::ReplyRestarted => InputKind::ReplyRestarted,
        TurnInput::ReasoningEcho(_) => InputKind::Part,
        TurnInput::ReplyEnded(_) => InputKind::ReplyEnded,
        TurnInput::Idle { .. } => InputKind::Idle,
        TurnInput::RetryDue => InputKind::RetryDue,
        TurnInput::ServersReady(_) => InputKind::ServersReady,
        TurnInput::ArgumentsChecked(_) => InputKind::ArgumentsChecked,
        TurnInput::CallDone { .. } => InputKind::CallDone,
        TurnInput::CancelCall { .. } | TurnInput::LeaveCall { .. } => InputKind::CancelCall,
        TurnInput::Answered { .. } => InputKind::Answered,
        TurnInput::Interrupt | TurnInput::Stopped => InputKind::Interrupt,
        TurnInput::ToolsetChanged(_) => InputKind::ToolsetChanged,
        TurnInput::TrustChanged(_) => InputKind::TrustChanged,
        TurnInput::Loading
        | TurnInput::Usage(_)
        | TurnInput::Noted(_)
        | TurnInput::Progress { .. }
        | TurnInput::TaskStarted { .. }
        | TurnInput::AgentPrepared(_)
        | TurnInput::AgentProgressed(_)
        | TurnInput::AgentFinished(_)
        | TurnInput::ToolsOffered(_)
        | TurnInput::ModeChanged(_) => InputKind::Other,
    }
}

use InputKind as I;
use TurnState as S;

pub const TRANSITIONS: &[Transition] = &[
    (S::AwaitingServers, I::ServersReady, S::Waiting),
    (S::AwaitingServers, I::Interrupt, S::Ended),
    (S::Waiting, I::Part, S::Streaming),
    (S::Waiting, I::Heartbeat, S::Streaming),
    (S::Waiting, I::Part, S::Ended),
    (S::Waiting, I::ReplyEnded, S::Ended),
    (S::Waiting, I::ReplyEnded, S::Retrying),
    (S::Retrying, I::RetryDue, S::Waiting),
    (S::Retrying, I::Interrupt, S::Ended),
    (S::Waiting, I::Interrupt, S::Ended),
    (S::Streaming, I::ReplyRestarted, S::Waiting),
    (S::Stalled, I::ReplyRestarted, S::Waiting),
    (S::Streaming, I::Part, S::Ended),
    (S::Streaming, I::ReplyEnded, S::Waiting),
    (S::Streaming, I::ReplyEnded, S::AtUnusableCall),
    (S::Streaming, I::ReplyEnded, S::AfterError),
    (S::Streaming, I::ReplyEnded, S::AtRoundLimit),
    (S::Streaming, I::ReplyEnded, S::Ended),
    (S::Streaming, I::Idle, S::Stalled),
    (S::Streaming, I::Interrupt, S::Ended),
    (S::Stalled, I::Part, S::Streaming),
    (S::Stalled, I::Part, S::Ended),
    (S::Stalled, I::Heartbeat, S::Streaming),
    (S::Stalled, I::ReplyEnded, S::Waiting),
    (S::Stalled, I::ReplyEnded, S::AtUnusableCall),
    (S::Stalled, I::ReplyEnded, S::AfterError),
    (S::Stalled, I::ReplyEnded, S::AtRoundLimit),
    (S::Stalled, I::ReplyEnded, S::Ended),
    (S::Stalled, I::Answered, S::Waiting),
    (S::Stalled, I::Answered, S::Streaming),
    (S::Stalled, I::Answered, S::Ended),
    (S::Stalled, I::Interrupt, S::Ended),
    (S::Streaming, I::ReplyEnded, S::CheckingArguments),
    (S::Stalled, I::ReplyEnded, S::CheckingArguments),
    (S::Streaming, I::ReplyEnded, S::ChoosingServer),
    (S::Stalled, I::ReplyEnded, S::ChoosingServer),
    (S::ChoosingServer, I::Answered, S::CheckingArguments),
    (S::ChoosingServer, I::Answered, S::Waiting),
    (S::ChoosingServer, I::Answered, S::AtUnusableCall),
    (S::ChoosingServer, I::Answered, S::AfterError),
    (S::ChoosingServer, I::Answered, S::AtRoundLimit),
    (S::ChoosingServer, I::Answered, S::Ended),
    (S::ChoosingServer, I::Interrupt, S::Ended),
    (S::AwaitingApproval, I::Answered, S::CheckingArguments),
    (S::CheckingArguments, I::ArgumentsChecked, S::Waiting),
    (
        S::CheckingArguments,
        I::ArgumentsChecked,
        S::AwaitingApproval,
    ),
    (S::CheckingArguments, I::ArgumentsChecked, S::AtUnusableCall),
    (S::CheckingArguments, I::ArgumentsChecked, S::AfterError),
    (S::CheckingArguments, I::ArgumentsChecked, S::AtRoundLimit),
    (S::CheckingArguments, I::ArgumentsChecked, S::Running),
    (S::CheckingArguments, I::Interrupt, S::Ended),
    (S::AwaitingApproval, I::Answered, S::Waiting),
    (S::AwaitingApproval, I::Answered, S::Running),
    (S::AwaitingApproval, I::Answered, S::Ended),
    (S::AwaitingApproval, I::Interrupt, S::Ended),
    (S::AwaitingApproval, I::ToolsetChanged, S::Waiting),
    (S::AwaitingApproval, I::ToolsetChanged, S::Running),
    (S::AwaitingApproval, I::TrustChanged, S::Waiting),
    (S::AwaitingApproval, I::TrustChanged, S::Running),
    (S::AtUnusableCall, I::Answered, S::Waiting),
    (S::AtUnusableCall, I::Answered, S::AwaitingApproval),
    (S::AtUnusableCall, I::Answered, S::Running),
    (S::AtUnusableCall, I::Answered, S::Ended),
    (S::AtUnusableCall, I::Interrupt, S::Ended),
    (S::AfterError, I::Answered, S::Waiting),
    (S::AfterError, I::Answered, S::AwaitingApproval),
    (S::AfterError, I::Answered, S::AtUnusableCall),
    (S::AfterError, I::Answered, S::AtRoundLimit),
    (S::AfterError, I::Answered, S::Running),
    (S::AfterError, I::Answered, S::Ended),
    (S::AfterError, I::Interrupt, S::Ended),
    (S::AtRoundLimit, I::Answered, S::Waiting),
    (S::AtRoundLimit, I::Answered, S::AwaitingApproval),
    (S::AtRoundLimit, I::Answered, S::AtUnusableCall),
    (S::AtRoundLimit, I::Answered, S::Running),
    (S::AtRoundLimit, I::Answered, S::Ended),
    (S::AtRoundLimit, I::Interrupt, S::Ended),
    (S::Running, I::CallDone, S::Waiting),
    (S::Running, I::CancelCall, S::Waiting),
    (S::Running, I::Interrupt, S::Ended),
];
