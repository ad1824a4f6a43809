//! The limit on requests per second: one token bucket for all clients (pure; the time is passed in).

use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct RateLimiter {
    /// Requests per second; zero means no limit.
    rate: f64,
    /// Requests that may arrive at once when there were none before.
    burst: f64,
    /// Negative while admitted requests wait for their turn.
    tokens: f64,
    updated: Instant,
}

impl RateLimiter {
    /// Allows `per_second` requests per second, in bursts of up to the same number. Zero means no
    /// limit.
    pub fn new(per_second: u32, now: Instant) -> Self {
        let burst = f64::from(per_second).max(1.0);
        Self {
            rate: f64::from(per_second),
            burst,
            tokens: burst,
            updated: now,
        }
    }

    /// Admits a request after the returned delay.
    ///
    /// # Errors
    /// The delay would exceed `delay_max`. Returns the time after which to try again.
    pub fn admit(&mut self, now: Instant, delay_max: Duration) -> Result<Duration, Duration> {
        if self.rate == 0.0 {
            return Ok(Duration::ZERO);
        }
        let elapsed = now.saturating_duration_since(self.updated);
        self.tokens = (self.tokens + elapsed.as_secs_f64() * self.rate).min(self.burst);
        self.updated = now;
        let delay = Duration::from_secs_f64((1.0 - self.tokens).max(0.0) / self.rate);
        if delay > delay_max {
            return Err(delay);
        }
        self.tokens -= 1.0;
        Ok(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_burst_is_served_at_once_then_slowed_down_then_refused() {
        let now = Instant::now();
        let mut limiter = RateLimiter::new(10, now);
        let mut ask = || limiter.admit(now, SECOND);
        for _ in 0..10 {
            assert_eq!(ask(), Ok(Duration::ZERO));
        }
        for tenths in 1..=10 {
            let delay = ask().expect("within a second");
            assert!((delay.as_secs_f64() - f64::from(tenths) / 10.0).abs() < 1e-6);
        }
        let retry = ask().expect_err("more than a second");
        assert!(retry > SECOND);
    }

    #[test]
    fn time_restores_the_allowance_up_to_one_burst() {
        let start = Instant::now();
        let mut limiter = RateLimiter::new(2, start);
        let mut ask = |at: Duration| limiter.admit(start + at, Duration::ZERO);
        assert!(ask(Duration::ZERO).is_ok() && ask(Duration::ZERO).is_ok());
        assert!(ask(Duration::ZERO).is_err());
        assert!(ask(SECOND / 2).is_ok() && ask(SECOND / 2).is_err());
        let later = SECOND * 3600;
        assert!(ask(later).is_ok() && ask(later).is_ok() && ask(later).is_err());
    }

    #[test]
    fn a_rate_limit_of_zero_means_no_limit() {
        let now = Instant::now();
        let mut limiter = RateLimiter::new(0, now);
        for _ in 0..10_000 {
            let delay = limiter.admit(now, Duration::ZERO);
            assert_eq!(delay, Ok(Duration::ZERO));
        }
    }
}
