//! `blame --porcelain`, told again with one line a line. Its own human form puts names into the columns unescaped.

use std::collections::HashMap;
use std::io::{self, Write};

use super::Machine;
use super::escape::Escaper;

/// Digits of an object id that are shown.
const SHORT: usize = 8;
/// Longest header line that is kept; the rest of a longer one is of no use here.
const MOST: usize = 1024;

#[derive(Default)]
pub(super) struct Blame {
    authors: HashMap<String, Author>,
    commit: String,
    number: String,
    header: Vec<u8>,
    content: Option<Escaper>,
}

#[derive(Default, Clone)]
struct Author {
    name: Vec<u8>,
    time: i64,
    zone: String,
}

impl Blame {
    fn take_header(&mut self) {
        let line = std::mem::take(&mut self.header);
        let (key, value) = match line.iter().position(|b| *b == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (&line[..], &[][..]),
        };
        if super::super::revision::object_id(key).is_some() {
            self.commit = String::from_utf8_lossy(key).into_owned();
            String::from_utf8_lossy(value).split(' ').nth(1).unwrap_or_default().clone_into(&mut self.number);
            return;
        }
        let author = self.authors.entry(self.commit.clone()).or_default();
        match key {
            b"author" => author.name = value.to_vec(),
            b"author-time" => author.time = String::from_utf8_lossy(value).parse().unwrap_or(0),
            b"author-tz" => author.zone = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }

    fn begin_content(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let author = self.authors.get(&self.commit).cloned().unwrap_or_default();
        let short = &self.commit[..SHORT.min(self.commit.len())];
        write!(out, "{short} {} ", iso(author.time, &author.zone))?;
        let mut name = Escaper::names();
        name.push(&author.name, out)?;
        name.flush(out)?;
        write!(out, " {}) ", self.number)?;
        self.content = Some(Escaper::lines());
        Ok(())
    }
}

impl Machine for Blame {
    fn feed(&mut self, piece: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let mut rest = piece;
        while let Some(first) = rest.first().copied() {
            if self.content.is_none() && self.header.is_empty() && first == b'\t' {
                self.begin_content(out)?;
                rest = &rest[1..];
                continue;
            }
            let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let ended = length < rest.len();
            if let Some(content) = self.content.as_mut() {
                // With its newline, so that a carriage return before it is known for what it is.
                content.push(&rest[..length + usize::from(ended)], out)?;
                if ended {
                    content.flush(out)?;
                    self.content = None;
                }
            } else {
                let room = MOST.saturating_sub(self.header.len());
                self.header.extend_from_slice(&rest[..length.min(room)]);
                if ended {
                    self.take_header();
                }
            }
            rest = &rest[(length + 1).min(rest.len())..];
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.content.take().map_or(Ok(()), |mut content| content.flush(out))
    }
}

/// Seconds since the epoch and a zone like `+0130`, as ISO 8601.
fn iso(time: i64, zone: &str) -> String {
    let digits =
        zone.get(1..).filter(|digits| digits.len() == 4).and_then(|digits| digits.parse::<i64>().ok());
    let minutes = digits.map_or(0, |digits| digits / 100 * 60 + digits % 100);
    let (sign, offset) = if zone.starts_with('-') { ('-', -minutes) } else { ('+', minutes) };
    // A commit may claim any time; what lies beyond the calendar's four digits is shown as the epoch.
    let local = Some(time + offset * 60).filter(|at| (0..253_402_300_800).contains(at)).unwrap_or(0);
    let (days, seconds) = (local / 86_400, local % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let zone = match minutes {
        0 => "Z".to_owned(),
        minutes => format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}

/// The day of the proleptic Gregorian calendar that is `days` after 1970-01-01, from the era arithmetic of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468; // from 0000-03-01, so that the leap day is a year's last
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(iso(0, "+0000"), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_400, "+0000"), "2000-02-29T00:00:00Z");
        assert_eq!(iso(1_709_251_199, "-0100"), "2024-02-29T22:59:59-01:00");
        assert_eq!(iso(i64::MAX / 2, "+x"), "1970-01-01T00:00:00Z");
    }
}
