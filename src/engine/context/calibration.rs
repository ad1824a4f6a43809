//! Corrects token estimates by the counts of the server, and judges whether a count can be true.

/// Average ratio of raw estimates to the server's counts.
const ESTIMATE_TO_COUNT_RATIO: f64 = 1.17;
/// A count below this share of the estimate means that the server truncated the conversation.
/// The share is higher once an earlier count has calibrated the estimate.
const TRUNCATED_SHARE: f64 = 0.55;
const TRUNCATED_SHARE_CALIBRATED: f64 = 0.75;
/// A smaller difference between estimate and count is not reported.
const FAR_OFF_TOKENS_MIN: u64 = 500;
/// No server truncates to fewer tokens than this. A smaller count omits cached tokens or is
/// wrong.
const TRUNCATED_TOKENS_MIN: u64 = 500;

/// Calibrates estimates with the token counts of the server.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokenCalibration {
    /// The raw estimate of the last request with a plausible count, and that count.
    last_count: Option<(u64, u64)>,
}

impl TokenCalibration {
    /// The calibrated token estimate of a request. After the first count, only the part added
    /// since then is estimated.
    pub fn estimate(self, raw_estimate: u64) -> u64 {
        let Some((counted_raw_estimate, count)) = self.last_count else {
            return raw_estimate;
        };
        let ratio = count as f64 / counted_raw_estimate.max(1) as f64;
        let tokens = if raw_estimate >= counted_raw_estimate {
            // New text may be of a different kind from the text so far, so use the mean of the
            // observed and the average ratio.
            let added_ratio = (ratio + 1.0 / ESTIMATE_TO_COUNT_RATIO) / 2.0;
            count as f64 + (raw_estimate - counted_raw_estimate) as f64 * added_ratio
        } else {
            raw_estimate as f64 * ratio
        };
        tokens.round() as u64
    }

    /// Records the server's count of a request, unless it is far below the estimate.
    pub fn record_count(&mut self, raw_estimate: u64, count: u64) -> CountVerdict {
        let estimate = self.estimate(raw_estimate);
        let truncated_share = match self.last_count {
            Some(_) => TRUNCATED_SHARE_CALIBRATED,
            None => TRUNCATED_SHARE,
        };
        if (count as f64) < estimate as f64 * truncated_share {
            return match count >= TRUNCATED_TOKENS_MIN {
                true => CountVerdict::Truncated,
                false => CountVerdict::Incomplete,
            };
        }
        self.last_count = Some((raw_estimate, count));
        CountVerdict::Plausible
    }
}

/// The meaning of a server's token count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountVerdict {
    Plausible,
    /// The server must have truncated the conversation.
    Truncated,
    /// The count omits cached tokens or is wrong.
    Incomplete,
}

/// Whether an estimate and a count differ by more than half of the larger one. A small difference is
/// never far: a chat template alone may take that many tokens.
pub fn is_far_off(estimate: u64, count: u64) -> bool {
    let difference = estimate.abs_diff(count);
    difference > estimate.max(count) / 2 && difference >= FAR_OFF_TOKENS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_count_from_the_server_improves_the_next_estimate() {
        let mut calibration = TokenCalibration::default();
        assert_eq!(calibration.estimate(1_200), 1_200);
        let plausible = CountVerdict::Plausible;
        assert_eq!(calibration.record_count(1_200, 1_000), plausible);
        assert_eq!(calibration.estimate(1_200), 1_000);
        assert_eq!(calibration.estimate(2_400), 2_013);
        assert_eq!(calibration.estimate(600), 500);
    }

    #[test]
    fn token_count_far_below_the_estimate_means_truncation_and_is_ignored() {
        let mut calibration = TokenCalibration::default();
        let (plausible, truncated) = (CountVerdict::Plausible, CountVerdict::Truncated);
        assert_eq!(calibration.record_count(9_000, 4_096), truncated);
        assert_eq!(calibration.estimate(9_000), 9_000);
        assert_eq!(calibration.record_count(2_000, 1_600), plausible);
        assert_eq!(calibration.record_count(9_000, 4_096), truncated);
        assert_eq!(calibration.estimate(2_000), 1_600);
    }

    #[test]
    fn implausibly_small_token_count_is_ignored() {
        let mut calibration = TokenCalibration::default();
        let verdict = calibration.record_count(2_000, 20);
        assert_eq!(verdict, CountVerdict::Incomplete);
        assert_eq!(calibration.estimate(2_000), 2_000);
    }
}
