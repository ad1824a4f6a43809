//! The query for finding sessions: words, and the filters `model:`, `after:` and `before:`.

use super::SessionSummary;
use crate::text::term_matches::case_fold;
use jiff::civil::{Date, date};
use jiff::{Span, Timestamp, Zoned};

/// Maximum number of words. Further ones are ignored.
const WORDS_MAX: usize = 32;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Folded; a session must contain all of them. Words that were quoted together are one.
    words: Vec<String>,
    /// Parts of model names, folded.
    models: Vec<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

/// A filter without a valid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFilter {
    #[error("`{0}` needs a model name, such as model:qwen.")]
    NoModel(String),
    #[error(
        "`{0}` is not a date. Write 2026-10-01, 2026-10, 2026, today, yesterday, last week, last month, this year, 7d, 2w, 3m or 1y."
    )]
    Date(String),
}

impl SessionQuery {
    /// Parses a query. Days are local, in the time zone of `now`. `after:` includes its day,
    /// `before:` does not.
    ///
    /// # Errors
    /// A filter has no value or an invalid one.
    pub fn parse(text: &str, now: &Zoned) -> Result<Self, InvalidFilter> {
        let mut query = Self::default();
        for token in join_periods(tokens(text)) {
            let filter = token.split_once(':');
            let filter = filter.map(|(name, value)| (name.to_lowercase(), value));
            match &filter {
                Some((name, value)) if name == "model" => {
                    if value.is_empty() {
                        return Err(InvalidFilter::NoModel(token.clone()));
                    }
                    query.models.push(case_fold(value));
                }
                Some((name, value)) if name == "after" || name == "before" => {
                    let day = parse_day(value, now.date());
                    let start = day.and_then(|day| day.to_zoned(now.time_zone().clone()).ok());
                    let start = start.ok_or_else(|| InvalidFilter::Date(token.clone()))?;
                    let bound = match name.as_str() {
                        "after" => &mut query.after,
                        _ => &mut query.before,
                    };
                    *bound = Some(start.timestamp());
                }
                _ if query.words.len() < WORDS_MAX => query.words.push(case_fold(&token)),
                _ => {}
            }
        }
        Ok(query)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Folded words that a session must contain.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The words as one text, those that belong together in quotation marks.
    pub fn text(&self) -> String {
        let quoted = |word: &String| match word.contains(char::is_whitespace) {
            true => format!("\"{word}\""),
            false => word.clone(),
        };
        let words: Vec<String> = self.words.iter().map(quoted).collect();
        words.join(" ")
    }

    /// Whether the filters admit the session, whatever it contains.
    pub fn admits(&self, session: &SessionSummary) -> bool {
        let has_models = || {
            let model = case_fold(&session.model);
            self.models.iter().all(|part| model.contains(part.as_str()))
        };
        (self.models.is_empty() || has_models())
            && self.after.is_none_or(|after| session.changed_at >= after)
            && self.before.is_none_or(|before| session.changed_at < before)
    }

    /// Whether the title, which must be folded, contains every word.
    pub fn matches_title(&self, folded_title: &str) -> bool {
        let mut words = self.words.iter();
        words.all(|word| folded_title.contains(word.as_str()))
    }
}

/// Splits at white space. Quotation marks keep a value with spaces together, as in
/// `model:"my model"`.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => tokens.push(std::mem::take(&mut token)),
            c => token.push(c),
        }
    }
    tokens.push(token);
    tokens.retain(|token| !token.trim().is_empty());
    tokens
}

/// Joins a date of two words, as in `after:last week`.
fn join_periods(tokens: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for token in tokens {
        let is_unit = ["week", "month", "year"].contains(&token.to_lowercase().as_str());
        let begins_period = |previous: &&mut String| {
            let previous = previous.to_lowercase();
            let words = ["last", "this"];
            let value = previous.strip_prefix("after:");
            let value = value.or(previous.strip_prefix("before:"));
            value.is_some_and(|value| words.contains(&value))
        };
        match joined
            .last_mut()
            .filter(|previous| is_unit && begins_period(previous))
        {
            Some(previous) => {
                previous.push(' ');
                previous.push_str(&token);
            }
            None => joined.push(token),
        }
    }
    joined
}

/// The first day of a week, which begins on Monday, or of a month or year.
fn parse_period(value: &str, today: Date) -> Option<Date> {
    let (word, unit) = value.split_once([' ', '-'])?;
    let periods_back = match word {
        "last" => 1,
        "this" => 0,
        _ => return None,
    };
    let (start, length) = match unit {
        "week" => {
            let days = i64::from(today.weekday().to_monday_zero_offset());
            (
                today.checked_sub(Span::new().days(days)).ok()?,
                Span::new().weeks(periods_back),
            )
        }
        "month" => (today.first_of_month(), Span::new().months(periods_back)),
        "year" => (today.first_of_year(), Span::new().years(periods_back)),
        _ => return None,
    };
    start.checked_sub(length).ok()
}

/// Parses a day: a date, the first day of a week, month or year, or a number of days, weeks, months
/// or years ago.
fn parse_day(value: &str, today: Date) -> Option<Date> {
    let value = value.to_lowercase();
    match value.as_str() {
        "today" => return Some(today),
        "yesterday" => return today.yesterday().ok(),
        _ => {}
    }
    if let Some(start) = parse_period(&value, today) {
        return Some(start);
    }
    if let Some(unit) = value.chars().last().filter(char::is_ascii_alphabetic) {
        let count: i64 = value[..value.len() - 1].parse().ok()?;
        let span = match unit {
            'd' => Span::new().try_days(count),
            'w' => Span::new().try_weeks(count),
            'm' => Span::new().try_months(count),
            'y' => Span::new().try_years(count),
            _ => return None,
        };
        let span = span.ok().filter(|_| count >= 0)?;
        return today.checked_sub(span).ok();
    }
    let mut parts = value.split('-').map(str::parse::<i16>);
    let year = parts
        .next()?
        .ok()
        .filter(|year| (1000..=9999).contains(year))?;
    let mut next = || match parts.next() {
        None => Some(1),
        Some(part) => i8::try_from(part.ok()?).ok(),
    };
    let (month, day) = (next()?, next()?);
    if parts.next().is_some() || value.ends_with('-') {
        return None;
    }
    let valid_months = 1..=12;
    let first = valid_months
        .contains(&month)
        .then(|| date(year, month, 1))?;
    first.with().day(day).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-11-20T15:30:00+09:00[Asia/Seoul]"
            .parse()
            .expect("a time")
    }

    fn parse(text: &str) -> Result<SessionQuery, InvalidFilter> {
        SessionQuery::parse(text, &now())
    }

    fn session(model: &str, changed_at: &str) -> SessionSummary {
        SessionSummary {
            id: "a.json".into(),
            title: "서울 날씨".to_owned(),
            model: model.to_owned(),
            started_at: None,
            changed_at: changed_at.parse().expect("a time"),
            message_count: 2,
            open_error: None,
        }
    }

    #[test]
    fn words_and_filters_are_separated() {
        let query = parse("날씨 Model:Qwen  Seoul before:2026-11-01").expect("valid");
        assert_eq!(query.words(), ["날씨", "seoul"]);
        assert!(query.admits(&session("qwen3:4b", "2026-10-31T14:59:59Z")));
        assert!(!query.admits(&session("qwen3:4b", "2026-10-31T15:00:00Z")));
        assert!(!query.admits(&session("gpt-4o", "2026-10-01T00:00:00Z")));
        assert!(parse("  ").expect("valid").is_empty());
        // Other words with a colon are words, such as a URL or a time.
        let query = parse("https://a.b 16:20").expect("valid");
        assert_eq!(query.words(), ["https://a.b", "16:20"]);
        let query = parse(r#"model:"my model" x"#).expect("valid");
        assert!(query.admits(&session("My Model 2", "2026-01-01T00:00:00Z")));
        assert_eq!(query.words(), ["x"]);
        // These words are a date only after a filter.
        let query = parse("before:last week last month").expect("valid");
        assert_eq!(query.words(), ["last", "month"]);
        let query = parse(r#"Espresso "Last month" "one" "half a quo"#).expect("valid");
        assert_eq!(
            query.words(),
            ["espresso", "last month", "one", "half a quo"]
        );
        assert_eq!(query.text(), r#"espresso "last month" one "half a quo""#);
    }

    #[test]
    fn days_are_local_and_the_after_filter_includes_its_day() {
        for (filter, first) in [
            ("after:2026-10-01", "2026-09-30T15:00:00Z"),
            ("after:2026-10", "2026-09-30T15:00:00Z"),
            ("after:2026", "2025-12-31T15:00:00Z"),
            ("after:today", "2026-11-19T15:00:00Z"),
            ("after:Yesterday", "2026-11-18T15:00:00Z"),
            ("after:this week", "2026-11-15T15:00:00Z"),
            ("after:last week", "2026-11-08T15:00:00Z"),
            ("after:Last Month", "2026-09-30T15:00:00Z"),
            ("after:\"last month\"", "2026-09-30T15:00:00Z"),
            ("after:last-month", "2026-09-30T15:00:00Z"),
            ("after:last year", "2024-12-31T15:00:00Z"),
            ("after:7d", "2026-11-12T15:00:00Z"),
            ("after:2w", "2026-11-05T15:00:00Z"),
            ("after:1m", "2026-10-19T15:00:00Z"),
            ("after:1y", "2025-11-19T15:00:00Z"),
        ] {
            let query = parse(filter).expect(filter);
            let first: Timestamp = first.parse().expect("a time");
            assert_eq!(query.after, Some(first), "{filter}");
            assert!(query.admits(&session("m", &first.to_string())), "{filter}");
            let before = first - Span::new().seconds(1);
            assert!(
                !query.admits(&session("m", &before.to_string())),
                "{filter}"
            );
        }
    }

    #[test]
    fn the_error_about_an_invalid_filter_names_the_filter() {
        for text in [
            "after:",
            "after:tomorow",
            "before:2026-13",
            "after:2026-02-30",
            "after:2026-10-",
            "after:2026-1-1-1",
            "before:-3d",
            "after:99999999999y",
            "after:10",
            "after:7한",
            "after:last",
            "after:last day",
        ] {
            let filter = text.split(' ').next().unwrap_or_default();
            let expected = InvalidFilter::Date(filter.to_owned());
            assert_eq!(parse(&format!("날씨 {text}")), Err(expected), "{text}");
        }
        assert_eq!(
            parse("model:"),
            Err(InvalidFilter::NoModel("model:".to_owned()))
        );
    }

    #[test]
    fn a_matching_title_contains_every_word_of_the_query() {
        let query = parse("울 날").expect("valid");
        assert!(query.matches_title("서울 날씨"));
        assert!(!query.matches_title("서울"));
        assert!(parse("").expect("valid").matches_title("anything"));
    }
}
