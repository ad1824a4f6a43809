//! Every change of state that the machine of a turn can make. A new one has to be
//! written down here before the simulation passes.

use humble::engine::turn::{Input, StateKind};

/// An input without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InputKind {
    Part,
    Alive,
    StartedOver,
    ReplyEnded,
    Idle,
    RetryDue,
    ArgumentsChecked,
    CallDone,
    CancelCall,
    Answered,
    Interrupt,
    OfferedChanged,
    TrustChanged,
    Other,
}

pub type Transition = (StateKind, InputKind, StateKind);

pub fn kind_of(input: &Input) -> InputKind {
    match input {
        Input::Text(_)
        | Input::Thinking(_)
        | Input::TextWasThinking
        | Input::Mark(_)
        | Input::Call(_)
        | Input::Unusable { .. } => InputKind::Part,
        Input::Alive => InputKind::Alive,
        Input::StartedOver => InputKind::StartedOver,
        Input::Carry(_) => InputKind::Part,
        Input::ReplyEnded(_) => InputKind::ReplyEnded,
        Input::Idle { .. } => InputKind::Idle,
        Input::RetryDue => InputKind::RetryDue,
        Input::ArgumentsChecked(_) => InputKind::ArgumentsChecked,
        Input::CallDone { .. } => InputKind::CallDone,
        Input::CancelCall { .. } => InputKind::CancelCall,
        Input::Answered { .. } => InputKind::Answered,
        Input::Interrupt | Input::Stopped => InputKind::Interrupt,
        Input::OfferedChanged(_) => InputKind::OfferedChanged,
        Input::TrustChanged(_) => InputKind::TrustChanged,
        Input::Loading
        | Input::Usage(_)
        | Input::Noted(_)
        | Input::Progress { .. }
        | Input::Quoted(_)
        | Input::ModeChanged(_) => InputKind::Other,
    }
}

use InputKind as I;
use StateKind as S;

pub const TRANSITIONS: &[Transition] = &[
    (S::Waiting, I::Part, S::Streaming),
    (S::Waiting, I::Alive, S::Streaming),
    (S::Waiting, I::Part, S::Ended),
    (S::Waiting, I::ReplyEnded, S::Ended),
    (S::Waiting, I::ReplyEnded, S::Retrying),
    (S::Retrying, I::RetryDue, S::Waiting),
    (S::Retrying, I::Interrupt, S::Ended),
    (S::Waiting, I::Interrupt, S::Ended),
    (S::Streaming, I::StartedOver, S::Waiting),
    (S::Stalled, I::StartedOver, S::Waiting),
    (S::Streaming, I::Part, S::Ended),
    (S::Streaming, I::ReplyEnded, S::Waiting),
    (S::Streaming, I::ReplyEnded, S::Repairing),
    (S::Streaming, I::ReplyEnded, S::AfterError),
    (S::Streaming, I::ReplyEnded, S::AtBound),
    (S::Streaming, I::ReplyEnded, S::Ended),
    (S::Streaming, I::Idle, S::Stalled),
    (S::Streaming, I::Interrupt, S::Ended),
    (S::Stalled, I::Part, S::Streaming),
    (S::Stalled, I::Part, S::Ended),
    (S::Stalled, I::Alive, S::Streaming),
    (S::Stalled, I::ReplyEnded, S::Waiting),
    (S::Stalled, I::ReplyEnded, S::Repairing),
    (S::Stalled, I::ReplyEnded, S::AfterError),
    (S::Stalled, I::ReplyEnded, S::AtBound),
    (S::Stalled, I::ReplyEnded, S::Ended),
    (S::Stalled, I::Answered, S::Waiting),
    (S::Stalled, I::Answered, S::Streaming),
    (S::Stalled, I::Answered, S::Ended),
    (S::Stalled, I::Interrupt, S::Ended),
    (S::Streaming, I::ReplyEnded, S::Checking),
    (S::Stalled, I::ReplyEnded, S::Checking),
    (S::Deciding, I::Answered, S::Checking),
    (S::Checking, I::ArgumentsChecked, S::Waiting),
    (S::Checking, I::ArgumentsChecked, S::Deciding),
    (S::Checking, I::ArgumentsChecked, S::Repairing),
    (S::Checking, I::ArgumentsChecked, S::AfterError),
    (S::Checking, I::ArgumentsChecked, S::AtBound),
    (S::Checking, I::ArgumentsChecked, S::Running),
    (S::Checking, I::Interrupt, S::Ended),
    (S::Deciding, I::Answered, S::Waiting),
    (S::Deciding, I::Answered, S::Running),
    (S::Deciding, I::Answered, S::Ended),
    (S::Deciding, I::Interrupt, S::Ended),
    (S::Deciding, I::OfferedChanged, S::Waiting),
    (S::Deciding, I::OfferedChanged, S::Running),
    (S::Deciding, I::TrustChanged, S::Waiting),
    (S::Deciding, I::TrustChanged, S::Running),
    (S::Repairing, I::Answered, S::Waiting),
    (S::Repairing, I::Answered, S::Deciding),
    (S::Repairing, I::Answered, S::Running),
    (S::Repairing, I::Answered, S::Ended),
    (S::Repairing, I::Interrupt, S::Ended),
    (S::AfterError, I::Answered, S::Waiting),
    (S::AfterError, I::Answered, S::Deciding),
    (S::AfterError, I::Answered, S::Repairing),
    (S::AfterError, I::Answered, S::AtBound),
    (S::AfterError, I::Answered, S::Running),
    (S::AfterError, I::Answered, S::Ended),
    (S::AfterError, I::Interrupt, S::Ended),
    (S::AtBound, I::Answered, S::Waiting),
    (S::AtBound, I::Answered, S::Deciding),
    (S::AtBound, I::Answered, S::Repairing),
    (S::AtBound, I::Answered, S::Running),
    (S::AtBound, I::Answered, S::Ended),
    (S::AtBound, I::Interrupt, S::Ended),
    (S::Running, I::CallDone, S::Waiting),
    (S::Running, I::CancelCall, S::Waiting),
    (S::Running, I::Interrupt, S::Ended),
];
