//! The delay before a server is restarted. Pure: the caller measures the time.

use std::time::Duration;

const DELAY_FIRST: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(30);
/// A session that lasted this long clears earlier failures.
const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// Counts consecutive failures. The first one allows an immediate retry; after that the delay
/// doubles up to its maximum.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The delay before the next attempt, after a session that lasted `lifetime` (zero if it never
    /// started).
    pub fn next_delay(&mut self, lifetime: Duration) -> Duration {
        if lifetime >= HEALTHY_AFTER {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        match self.failures {
            1 => Duration::ZERO,
            // 2^5 seconds already exceed the maximum.
            failures => (DELAY_FIRST * 2u32.pow((failures - 2).min(5))).min(DELAY_MAX),
        }
    }

    /// Clears all failures, because the user asked for another attempt.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(backoff: &mut Backoff, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| backoff.next_delay(Duration::ZERO).as_secs())
            .collect()
    }

    #[test]
    fn backoff_delays_double_up_to_half_a_minute() {
        assert_eq!(
            delays(&mut Backoff::default(), 9),
            [0, 1, 2, 4, 8, 16, 30, 30, 30]
        );
    }

    #[test]
    fn long_session_or_manual_reconnect_resets_the_backoff() {
        let mut backoff = Backoff::default();
        delays(&mut backoff, 5);
        assert_eq!(backoff.next_delay(HEALTHY_AFTER), Duration::ZERO);
        assert_eq!(delays(&mut backoff, 2), [1, 2]);
        backoff.reset();
        assert_eq!(delays(&mut backoff, 2), [0, 1]);
    }

    #[test]
    fn the_failure_count_of_a_backoff_saturates() {
        let mut backoff = Backoff { failures: u32::MAX };
        assert_eq!(backoff.next_delay(Duration::ZERO), DELAY_MAX);
    }
}
