//! The schedule for polling a task. It only computes intervals and reads no clock.

use std::time::Duration;
use tokio::time::Instant;

const INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
/// Bounds of the server's suggestion. The longest interval delays a finished result only slightly.
const INTERVAL_MIN: Duration = Duration::from_millis(200);
const INTERVAL_MAX: Duration = Duration::from_secs(30);
/// How long before the deadline the last request is made, whatever the server suggests.
const LAST_POLL_LEAD: Duration = Duration::from_secs(1);
/// Maximum number of failed requests in a row.
const FAILURES_MAX: u32 = 6;

/// The interval between requests for the state, which doubles with each failed request.
#[derive(Debug)]
pub struct PollSchedule {
    /// Maximum interval before the first request.
    first_interval_max: Duration,
    has_polled: bool,
    suggested: Option<Duration>,
    failure_count: u32,
}

impl PollSchedule {
    /// The first request is made before half of `tool_timeout` has passed, so that a server cannot
    /// suggest an interval in which the user gives up.
    pub fn new(tool_timeout: Duration) -> Self {
        Self {
            first_interval_max: tool_timeout / 2,
            has_polled: false,
            suggested: None,
            failure_count: 0,
        }
    }

    pub fn record_poll(&mut self) {
        self.has_polled = true;
    }

    /// The time of the next request, which is before the deadline if possible.
    pub fn next_poll_at(&self, now: Instant, deadline: Instant) -> Instant {
        let next = now + self.interval();
        let last = deadline.checked_sub(LAST_POLL_LEAD);
        match last.filter(|last| now < *last) {
            Some(last) => next.min(last),
            None => next,
        }
    }

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
        let interval_max = match self.has_polled {
            true => INTERVAL_MAX,
            false => self.first_interval_max.clamp(INTERVAL_MIN, INTERVAL_MAX),
        };
        let interval = suggested.clamp(INTERVAL_MIN, interval_max);
        (interval * 2_u32.pow(self.failure_count)).min(INTERVAL_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_intervals_are_bounded_whatever_the_server_suggests() {
        let mut schedule = PollSchedule::new(Duration::MAX);
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
    fn the_first_poll_and_the_poll_before_the_deadline_are_made_in_time() {
        let mut schedule = PollSchedule::new(Duration::from_secs(20));
        schedule.record_state(Some(Duration::MAX));
        let start = Instant::now();
        let deadline = start + Duration::from_secs(35);
        let next = |schedule: &PollSchedule, now: u64| {
            let now = start + Duration::from_secs(now);
            (schedule.next_poll_at(now, deadline) - start).as_secs()
        };
        assert_eq!(next(&schedule, 0), 10);
        schedule.record_poll();
        assert_eq!(next(&schedule, 0), 30);
        assert_eq!(next(&schedule, 10), 34, "shortly before the deadline");
        assert_eq!(next(&schedule, 34), 64);
        assert_eq!(PollSchedule::new(Duration::ZERO).interval(), INTERVAL_MIN);
    }

    #[test]
    fn failures_double_the_interval_until_the_task_is_given_up() {
        let mut schedule = PollSchedule::new(Duration::MAX);
        let seconds: Vec<u64> = std::iter::from_fn(|| {
            (!schedule.record_failure()).then(|| schedule.interval().as_secs())
        })
        .collect();
        assert_eq!(seconds, [2, 4, 8, 16, 30]);
        schedule.record_state(None);
        assert_eq!(schedule.interval(), INTERVAL_DEFAULT);
    }
}
