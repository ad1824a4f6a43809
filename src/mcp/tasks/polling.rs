//! The schedule for polling a task. It only computes intervals and reads no clock.

use std::time::Duration;

const INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
/// Bounds of the server's suggestion. The longest interval delays a finished result only slightly.
const INTERVAL_MIN: Duration = Duration::from_millis(200);
const INTERVAL_MAX: Duration = Duration::from_secs(30);
/// Maximum number of failed requests in a row.
const FAILURES_MAX: u32 = 6;

/// The interval between requests for the state, which doubles with each failed request.
#[derive(Debug, Default)]
pub struct PollSchedule {
    suggested: Option<Duration>,
    failure_count: u32,
}

impl PollSchedule {
    /// Records a valid state, and the interval that it suggests, if any.
    pub fn record_state(&mut self, interval: Option<Duration>) {
        self.failure_count = 0;
        self.suggested = interval.or(self.suggested);
    }

    /// Records a failed request. Returns whether to give up on the task.
    pub fn record_failure(&mut self) -> bool {
        self.failure_count += 1;
        self.failure_count >= FAILURES_MAX
    }

    /// The number of the next retry, such as `2 of 5`. `None` if the last request succeeded.
    pub fn next_retry(&self) -> Option<String> {
        let count = self.failure_count;
        (count > 0).then(|| format!("{count} of {}", FAILURES_MAX - 1))
    }

    pub fn interval(&self) -> Duration {
        let suggested = self.suggested.unwrap_or(INTERVAL_DEFAULT);
        let interval = suggested.clamp(INTERVAL_MIN, INTERVAL_MAX);
        (interval * 2_u32.pow(self.failure_count)).min(INTERVAL_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_bounded_whatever_the_server_suggests() {
        let mut schedule = PollSchedule::default();
        assert_eq!(schedule.interval(), INTERVAL_DEFAULT);
        for (suggested, expected) in [
            (0, INTERVAL_MIN),
            (5_000, Duration::from_secs(5)),
            (u64::MAX, INTERVAL_MAX),
        ] {
            schedule.record_state(Some(Duration::from_millis(suggested)));
            assert_eq!(schedule.interval(), expected);
        }
        schedule.record_state(None);
        assert_eq!(
            schedule.interval(),
            INTERVAL_MAX,
            "the last suggestion is kept"
        );
    }

    #[test]
    fn failures_double_the_interval_until_the_task_is_given_up() {
        let mut schedule = PollSchedule::default();
        let seconds: Vec<u64> = std::iter::from_fn(|| {
            (!schedule.record_failure()).then(|| schedule.interval().as_secs())
        })
        .collect();
        assert_eq!(seconds, [2, 4, 8, 16, 30]);
        schedule.record_state(None);
        assert_eq!(schedule.interval(), INTERVAL_DEFAULT);
    }
}
