//! What confinement costs per command. Printed, not asserted but for the order of magnitude: a shared machine's times
//! say little. Run it alone, with `--nocapture`.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::attempt::Field;

const ROUNDS: usize = 60;

#[tokio::test]
async fn a_confined_command_costs_little_more() {
    let field = Field::new();
    let kinds = [
        ("free", None),
        ("read-only", Some("read-only")),
        ("workspace", Some("workspace")),
        ("git", Some("git")),
    ];
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); kinds.len()];
    for _ in 0..ROUNDS {
        for ((_, preset), times) in kinds.iter().zip(&mut times) {
            let argv = if *preset == Some("git") { json!(["git", "--version"]) } else { json!(["true"]) };
            let mut policy = json!({ "allowedExecutables": ["true", "git"] });
            if let Some(preset) = preset {
                policy["confinement"] = json!(preset);
            }
            field.rig.set_policy(policy);
            let begun = Instant::now();
            let status = field.rig.run(argv, json!({})).await;
            times.push(begun.elapsed());
            assert_eq!(status["exitCode"], 0, "{status:#}");
        }
    }
    let medians: Vec<_> = times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect();
    for ((name, _), median) in kinds.iter().zip(&medians) {
        println!("{name:>10}: {median:?}, {:.2} times", median.as_secs_f64() / medians[0].as_secs_f64());
    }
    assert!(medians[2] < medians[0] * 4 + Duration::from_millis(20), "{medians:?}");
}
