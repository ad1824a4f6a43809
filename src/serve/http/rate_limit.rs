//! A request rate limit for each client address: a token bucket (pure; the time is passed in).

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Maximum number of addresses tracked individually. All others share a bucket.
const ADDRESSES_MAX: usize = 4_096;

#[derive(Debug)]
pub struct RateLimiter {
    /// Requests per second; zero means no limit.
    rate: f64,
    /// Requests that an idle client may send at once.
    burst: f64,
    buckets: HashMap<IpAddr, Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// Negative while admitted requests wait for their turn.
    tokens: f64,
    updated: Instant,
}

impl RateLimiter {
    /// Allows `per_second` requests per second, in bursts of up to the same number. Zero means no
    /// limit.
    pub fn new(per_second: u32) -> Self {
        Self {
            rate: f64::from(per_second),
            burst: f64::from(per_second).max(1.0),
            buckets: HashMap::new(),
        }
    }

    /// Admits a request after the returned delay.
    ///
    /// # Errors
    /// The delay would exceed `delay_max`. Returns the time after which to try again.
    pub fn admit(
        &mut self,
        address: IpAddr,
        now: Instant,
        delay_max: Duration,
    ) -> Result<Duration, Duration> {
        if self.rate == 0.0 {
            return Ok(Duration::ZERO);
        }
        let key = self.key(address, now);
        let (rate, burst) = (self.rate, self.burst);
        let full = Bucket {
            tokens: burst,
            updated: now,
        };
        let bucket = self.buckets.entry(key).or_insert(full);
        bucket.tokens = refilled(bucket, now, rate).min(burst);
        bucket.updated = now;
        let delay = Duration::from_secs_f64((1.0 - bucket.tokens).max(0.0) / rate);
        if delay > delay_max {
            return Err(delay);
        }
        bucket.tokens -= 1.0;
        Ok(delay)
    }

    fn key(&mut self, address: IpAddr, now: Instant) -> IpAddr {
        let key = network(address);
        if self.buckets.len() >= ADDRESSES_MAX && !self.buckets.contains_key(&key) {
            let (rate, burst) = (self.rate, self.burst);
            // A full bucket is equivalent to a missing one.
            self.buckets
                .retain(|_, bucket| refilled(bucket, now, rate) < burst);
            if self.buckets.len() >= ADDRESSES_MAX {
                return IpAddr::V6(Ipv6Addr::UNSPECIFIED);
            }
        }
        key
    }
}

fn refilled(bucket: &Bucket, now: Instant, rate: f64) -> f64 {
    let elapsed = now.saturating_duration_since(bucket.updated);
    bucket.tokens + elapsed.as_secs_f64() * rate
}

/// One client can use all addresses of a `/64` network of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_burst_is_served_at_once_then_slowed_down_then_refused() {
        let (mut limiter, now) = (RateLimiter::new(10), Instant::now());
        let mut ask = || limiter.admit(address("10.0.0.1"), now, SECOND);
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
        let (mut limiter, start) = (RateLimiter::new(2), Instant::now());
        let mut ask = |at: Duration| limiter.admit(address("10.0.0.1"), start + at, Duration::ZERO);
        assert!(ask(Duration::ZERO).is_ok() && ask(Duration::ZERO).is_ok());
        assert!(ask(Duration::ZERO).is_err());
        assert!(ask(SECOND / 2).is_ok() && ask(SECOND / 2).is_err());
        let later = SECOND * 3600;
        assert!(ask(later).is_ok() && ask(later).is_ok() && ask(later).is_err());
    }

    #[test]
    fn addresses_are_limited_independently_unless_they_are_in_one_ipv6_network() {
        let (mut limiter, now) = (RateLimiter::new(1), Instant::now());
        let mut ask = |text| limiter.admit(address(text), now, Duration::ZERO).is_ok();
        assert!(ask("10.0.0.1") && ask("10.0.0.2") && !ask("10.0.0.1"));
        assert!(!ask("::ffff:10.0.0.2"));
        assert!(ask("2001:db8::1") && !ask("2001:db8::ffff:1") && ask("2001:db8:0:1::1"));
    }

    #[test]
    fn memory_of_the_rate_limiter_is_bounded_for_any_number_of_addresses() {
        let (mut limiter, now) = (RateLimiter::new(1), Instant::now());
        let many = u32::try_from(ADDRESSES_MAX * 2).expect("small");
        for number in 0..many {
            let _ = limiter.admit(IpAddr::V4(number.into()), now, Duration::ZERO);
        }
        assert!(limiter.buckets.len() <= ADDRESSES_MAX + 1);
        let _ = limiter.admit(address("10.0.0.1"), now + SECOND * 2, Duration::ZERO);
        assert_eq!(limiter.buckets.len(), 1);
    }

    #[test]
    fn a_rate_limit_of_zero_means_no_limit() {
        let (mut limiter, now) = (RateLimiter::new(0), Instant::now());
        for _ in 0..10_000 {
            let delay = limiter.admit(address("10.0.0.1"), now, Duration::ZERO);
            assert_eq!(delay, Ok(Duration::ZERO));
        }
    }
}
