//! What the next command is likely to be confined to: what two in a row were. Where commands take turns, preparing for the
//! last one would be wrong each time.

use crate::confinement::Rules;
use crate::warden::protocol::Forecast;

/// What one warden has been told, and what the last command was. Two starts at once may be heard in the other order, and what
/// is too long is left out: the warden then prepares what isn't used, until the next change.
#[derive(Debug, Default)]
pub struct Outlook {
    told: Option<Rules>,
    last: Option<Rules>,
}

impl Outlook {
    /// Takes in one more command, and gives what the warden is to be told, if that has changed.
    pub fn after(&mut self, rules: Option<&Rules>) -> Option<Forecast> {
        if !alike(self.last.as_ref(), rules) {
            self.last = rules.map(Rules::without_tmp);
            return None;
        }
        if alike(self.told.as_ref(), rules) {
            return None;
        }
        self.told.clone_from(&self.last);
        Some(self.told.clone().map_or(Forecast::Free, |rules| Forecast::Confined(Box::new(rules))))
    }
}

fn alike(one: Option<&Rules>, other: Option<&Rules>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.hold_as(other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(own_signals: bool, tmp: &str) -> Rules {
        Rules { own_signals, tmp: Some(tmp.into()), remove_tmp: true, ..Rules::of_nothing() }
    }

    #[test]
    fn two_commands_alike_make_a_forecast_and_it_is_told_once() {
        let mut outlook = Outlook::default();
        assert_eq!(outlook.after(None), None, "a new warden prepares for nothing");
        assert_eq!(outlook.after(Some(&rules(true, "/1"))), None);
        let forecast = Forecast::Confined(Box::new(rules(true, "/2").without_tmp()));
        assert_eq!(outlook.after(Some(&rules(true, "/2"))), Some(forecast), "without a temporary directory");
        assert_eq!(outlook.after(Some(&rules(true, "/3"))), None);
        assert_eq!(outlook.after(None), None);
        assert_eq!(outlook.after(None), Some(Forecast::Free));
        assert_eq!(outlook.after(None), None);
    }

    #[test]
    fn commands_that_take_turns_change_nothing() {
        let mut outlook = Outlook::default();
        for turn in 0..6 {
            assert_eq!(outlook.after(Some(&rules(turn % 2 == 0, "/1"))), None, "{turn}");
        }
    }
}
