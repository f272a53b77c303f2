//! Dates for `since`. git reads any text as some date, and junk as "now", which answers with an empty list; so only
//! two unmistakable forms pass.

use super::error::GitError;

const UNITS: [&str; 7] = ["second", "minute", "hour", "day", "week", "month", "year"];

/// Checks `text` and gives it as git is to read it. A bare day begins at midnight UTC; left to itself git takes the
/// current time of that day.
pub(crate) fn parse(text: &str) -> Result<String, GitError> {
    if text.starts_with('-') {
        let rule = "must not start with \"-\"";
        return Err(GitError::BadValue { name: "since", value: text.to_owned(), rule });
    }
    if is_ago(text) {
        return Ok(text.to_owned());
    }
    if let Some(rest) = after_day(text) {
        if rest.is_empty() {
            return Ok(format!("{text}T00:00:00Z"));
        }
        if rest.starts_with(['T', ' ']) && is_time(&rest[1..]) {
            return Ok(text.to_owned());
        }
    }
    let rule = "must be an ISO date (2024-05-31, 2024-05-31T10:00:00Z) or \"<n> days ago\"";
    Err(GitError::BadValue { name: "since", value: text.to_owned(), rule })
}

fn is_ago(text: &str) -> bool {
    let parts: Vec<_> = text.split(' ').collect();
    let [number, unit, "ago"] = parts[..] else { return false };
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    (1..=6).contains(&number.len()) && digits(number) && UNITS.contains(&unit)
}

/// What follows `YYYY-MM-DD`.
fn after_day(text: &str) -> Option<&str> {
    let (day, rest) = text.split_at_checked(10)?;
    let parts: Vec<_> = day.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let plain = year.len() == 4 && month.len() == 2 && day.len() == 2;
    let fits = |part: &str, most: u32| part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n));
    (plain && [year, month, day].iter().all(|part| digits(part)) && fits(month, 12) && fits(day, 31))
        .then_some(rest)
}

/// `HH:MM`, `HH:MM:SS`, then nothing, `Z` or an offset.
fn is_time(text: &str) -> bool {
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let parts: Vec<_> = clock.split(':').collect();
    let two = |part: &&str, most: u32| {
        part.len() == 2 && digits(part) && part.parse().is_ok_and(|n: u32| n <= most)
    };
    let clock_fits = matches!(parts.len(), 2 | 3)
        && parts.iter().enumerate().all(|(at, part)| two(part, if at == 0 { 23 } else { 59 }));
    let zone_fits = match zone {
        "" | "Z" => true,
        offset => matches!(offset[1..].len(), 4 | 5) && digits(&offset[1..].replace(':', "")),
    };
    clock_fits && zone_fits
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_dates_pass_and_a_day_begins_at_midnight() {
        assert_eq!(parse("2024-05-31").unwrap(), "2024-05-31T00:00:00Z");
        for text in [
            "2024-05-31T10:00",
            "2024-05-31 10:00:59",
            "2024-05-31T10:00:00Z",
            "2024-05-31T10:00:00+02:00",
            "2024-05-31T10:00:00-0200",
            "1 day ago",
            "3 weeks ago",
            "12 months ago",
        ] {
            assert_eq!(parse(text).unwrap(), text);
        }
    }

    #[test]
    fn whatever_git_would_guess_at_is_refused() {
        for text in [
            "",
            "total junk",
            "yesterday",
            "tea",
            "2024-13-01",
            "2024-05-32",
            "2024-5-1",
            "2024-05-31T",
            "2024-05-31T25:00",
            "2024-05-31Tx",
            "1 day",
            "x days ago",
            "1 day ago ",
            "1  day ago",
            "9999999 days ago",
            "2024-05-31T10:00Zjunk",
            "2024-05-31T10:00+",
            "é024-05-31",
            "-1 day ago",
        ] {
            assert_eq!(parse(text).unwrap_err().code(), "ERR_GIT_BAD_VALUE", "{text}");
        }
    }
}
