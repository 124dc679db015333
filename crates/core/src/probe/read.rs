//! What times at several occupancies say. Not for: where they come from ([`super::reports`], [`super::timings`]).

use std::collections::BTreeMap;

use crate::report::{GpuName, ProbePoint, ProbeReading, two_decimals};

/// Percent over the best time that counts as no slower.
const TOLERANCE: f64 = 5.0;
/// Percent of spread from which repeats are too far apart to hide behind.
const NOISY: f64 = 20.0;
/// Repeats from which the outer quarters are left out of the spread.
const QUARTILES: usize = 4;

/// Share of the highest occupancy under which the next one says little of whether the time still falls.
const CLOSE: f64 = 0.7;

/// What occupancy is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Warps,
    Blocks,
    Percent,
}

impl Axis {
    const fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Percent => "percent",
        }
    }

    /// A point's place, as far as it is known.
    fn of(self, point: &ProbePoint) -> f64 {
        let number = match self {
            Self::Warps => point.warps_per_sm.map(f64::from),
            Self::Blocks => point.blocks_per_sm.map(f64::from),
            Self::Percent => point.percent,
        };
        number.unwrap_or(0.0)
    }

    fn words(self, value: f64) -> String {
        let number = two_decimals(value);
        match self {
            Self::Warps if number == 1.0 => "1 warp".to_owned(),
            Self::Blocks if number == 1.0 => "1 block".to_owned(),
            Self::Warps => format!("{number} warps"),
            Self::Blocks => format!("{number} blocks"),
            Self::Percent => format!("{number} %"),
        }
    }
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Run {
    pub(super) blocks: Option<u32>,
    pub(super) warps: Option<u32>,
    pub(super) percent: Option<f64>,
    pub(super) shared_dynamic: Option<u32>,
    pub(super) time_ns: f64,
}

/// What the measurements are of.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Of {
    pub(super) kernel: Option<String>,
    pub(super) gpu: Option<GpuName>,
    pub(super) notes: Vec<String>,
}

/// A reading without an answer.
pub(super) fn refused(of: Of, axis: Axis, points: Vec<ProbePoint>, code: &'static str, why: String) -> ProbeReading {
    ProbeReading {
        kernel: of.kernel,
        gpu: of.gpu,
        axis: axis.name(),
        points,
        answer: None,
        raising_helps: None,
        says: why,
        knee: None,
        lowest_slower_percent: None,
        reason_code: Some(code),
        notes: of.notes,
    }
}

/// The answer of all measurements.
pub(super) fn read(of: Of, axis: Axis, runs: &[Run]) -> ProbeReading {
    let points = points(axis, runs);
    let (Some(top), Some(lowest)) = (points.first(), points.last()) else {
        return refused(of, axis, points, "no_measurements", "nothing was measured".to_owned());
    };
    if points.len() == 1 {
        let at = axis.words(axis.of(top));
        let why = format!(
            "only one occupancy was measured, {at}: add dynamic shared memory at launch and measure again (`occupant probe` \
             plans it)"
        );
        return refused(of, axis, points, "one_occupancy", why);
    }
    if let Some(noisy) = points.iter().find(|point| noisy(point)) {
        let why = format!(
            "the repeats at {} spread over {:.0} % of their median, so differences can't be told from noise: lock the clocks \
             and repeat more often",
            axis.words(axis.of(noisy)),
            spread(noisy)
        );
        return refused(of, axis, points, "too_noisy", why);
    }
    let fastest: Vec<&ProbePoint> = points.iter().filter(|point| point.as_fast).collect();
    let knee = fastest.last().map_or(0.0, |point| axis.of(point));
    let full = top.percent.is_some_and(|percent| percent >= 100.0);
    let answer = match () {
        () if !top.as_fast => "falling",
        () if fastest.len() == points.len() => "flat",
        () if fastest.len() == 1 => "rising",
        () => "knee",
    };
    let says = says(axis, &points, answer, knee, full);
    let helps = match answer {
        _ if full => "full",
        "rising" => "possible",
        _ => "not_expected",
    };
    let mut notes = of.notes;
    notes.extend(cautions(axis, &points, knee, answer));
    ProbeReading {
        kernel: of.kernel,
        gpu: of.gpu,
        axis: axis.name(),
        answer: Some(answer),
        raising_helps: Some(helps),
        says,
        knee: Some(knee),
        lowest_slower_percent: Some(lowest.slower_percent),
        reason_code: None,
        notes,
        points,
    }
}

/// Percent of the median between the ends of the spread.
fn spread(point: &ProbePoint) -> f64 {
    (point.high_ns - point.low_ns) / point.time_ns * 100.0
}

/// A point that is as fast as the best only because its repeats are far apart.
fn noisy(point: &ProbePoint) -> bool {
    point.as_fast && spread(point) > NOISY
}

/// The measurements by occupancy, the highest first.
fn points(axis: Axis, runs: &[Run]) -> Vec<ProbePoint> {
    // Two decimals tell occupancies apart; blocks and warps are whole.
    let key = |run: &Run| match axis {
        Axis::Warps => run.warps.map(u64::from),
        Axis::Blocks => run.blocks.map(u64::from),
        Axis::Percent => run.percent.map(|percent| (percent * 100.0).round() as u64),
    };
    let mut groups: BTreeMap<u64, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        groups.entry(key(run).unwrap_or(0)).or_default().push(run);
    }
    let mut points: Vec<ProbePoint> = groups.into_values().rev().filter_map(|runs| point(&runs)).collect();
    let best = points.iter().min_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
    let Some((best, slowest_of_best)) = best.map(|best| (best.time_ns, best.high_ns)) else { return points };
    for point in &mut points {
        let slower = (point.time_ns / best - 1.0) * 100.0;
        point.slower_percent = two_decimals(slower);
        point.as_fast = slower <= TOLERANCE || point.low_ns <= slowest_of_best;
    }
    points
}

fn point(runs: &[&Run]) -> Option<ProbePoint> {
    let first = runs.first()?;
    let mut times: Vec<f64> = runs.iter().map(|run| run.time_ns).collect();
    times.sort_by(f64::total_cmp);
    let mut amounts: Vec<u32> = runs.iter().filter_map(|run| run.shared_dynamic).collect();
    amounts.sort_unstable();
    amounts.dedup();
    let outer = if times.len() >= QUARTILES { times.len() / 4 } else { 0 };
    let high = times.len().checked_sub(outer + 1)?;
    Some(ProbePoint {
        blocks_per_sm: first.blocks,
        warps_per_sm: first.warps,
        percent: first.percent.map(two_decimals),
        shared_dynamic: amounts,
        runs: times.len(),
        time_ns: two_decimals(median(&times)?),
        low_ns: two_decimals(*times.get(outer)?),
        high_ns: two_decimals(*times.get(high)?),
        slower_percent: 0.0,
        as_fast: true,
    })
}

/// The middle of sorted numbers.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle)?;
    let lower = if sorted.len().is_multiple_of(2) { sorted.get(middle.checked_sub(1)?)? } else { upper };
    Some(f64::midpoint(*lower, *upper))
}

fn says(axis: Axis, points: &[ProbePoint], answer: &str, knee: f64, full: bool) -> String {
    let (Some(top), Some(lowest)) = (points.first(), points.last()) else { return String::new() };
    let (highest, low) = (axis.of(top), axis.of(lowest));
    let (further, beyond) = if full {
        ("", format!("{} are all that an SM holds", axis.words(highest)))
    } else {
        let further = ", and raising occupancy further can't be expected to help";
        (further, format!("more than {} was not measured, and this says nothing of it", axis.words(highest)))
    };
    let range = |from: f64| format!("from {} to {}", two_decimals(from), axis.words(highest));
    match answer {
        "flat" => format!(
            "the time is flat {} ({}): occupancy is not the lever there{further}; {beyond}",
            range(low),
            lowest_takes(axis, lowest)
        ),
        "knee" => format!(
            "the time is flat {}, and {}: {} are enough{further}; {beyond}",
            range(knee),
            lowest_takes(axis, lowest),
            axis.words(knee)
        ),
        "rising" => {
            let next = points.get(1).map_or(0.0, |point| point.slower_percent);
            let below = points.get(1).map_or(0.0, |point| axis.of(point));
            let helps =
                if full { "occupancy is a lever" } else { "occupancy is a lever, and more of it may help further" };
            let lowest = if points.len() > 2 { format!(", {}", lowest_takes(axis, lowest)) } else { String::new() };
            format!(
                "the time falls up to the highest occupancy that was measured: {} {} {} longer than {}{lowest}: {helps}; \
                 {beyond}",
                axis.words(below),
                if axis.words(below).starts_with("1 ") { "takes" } else { "take" },
                percent(next),
                axis.words(highest)
            )
        }
        _ => {
            let best = points.iter().min_by(|a, b| a.time_ns.total_cmp(&b.time_ns)).unwrap_or(top);
            format!(
                "fewer are faster: {} take least, {} {} longer, {}: raising occupancy can't be expected to help; {beyond}",
                axis.words(axis.of(best)),
                axis.words(highest),
                percent(top.slower_percent),
                lowest_takes(axis, lowest)
            )
        }
    }
}

fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

fn lowest_takes(axis: Axis, lowest: &ProbePoint) -> String {
    let at = axis.words(axis.of(lowest));
    let verb = if at.starts_with("1 ") || axis == Axis::Percent { "takes" } else { "take" };
    match lowest.slower_percent {
        0.0 => format!("{at} {verb} least"),
        slower if slower >= 100.0 => format!("{at} {verb} {:.1} times as long as the best", slower / 100.0 + 1.0),
        slower => format!("{at} {verb} {} longer than the best", percent(slower)),
    }
}

/// What weakens an answer.
fn cautions(axis: Axis, points: &[ProbePoint], knee: f64, answer: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if points.iter().all(|point| point.runs == 1) {
        notes.push("each occupancy was measured once: repeat, or noise can't be told from a difference".to_owned());
    }
    let by_spread = |point: &&ProbePoint| point.as_fast && point.slower_percent > TOLERANCE;
    if let Some(point) = points.iter().find(by_spread) {
        notes.push(format!(
            "{} counts as no slower than the best because the repeats overlap, though its median is {} longer",
            axis.words(axis.of(point)),
            percent(point.slower_percent)
        ));
    }
    if let Some(point) = points.iter().find(|point| axis.of(point) > knee && !point.as_fast && answer == "knee") {
        notes.push(format!(
            "not in order: {} takes {} longer than the best though a lower occupancy does not",
            axis.words(axis.of(point)),
            percent(point.slower_percent)
        ));
    }
    if let [top, next, ..] = points
        && answer == "rising"
        && axis.of(next) < axis.of(top) * CLOSE
    {
        notes.push(format!(
            "nothing was measured between {} and {}, and the time may be flat in the upper part: measure there before \
             occupancy is raised",
            two_decimals(axis.of(next)),
            axis.words(axis.of(top))
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in microseconds by warps.
    fn reading(times: &[(u32, &[f64])]) -> ProbeReading {
        let run = |warps: u32, time: f64| Run {
            blocks: Some(warps / 8),
            warps: Some(warps),
            percent: Some(f64::from(warps) / 64.0 * 100.0),
            shared_dynamic: None,
            time_ns: time * 1e3,
        };
        let runs: Vec<Run> =
            times.iter().flat_map(|(warps, times)| times.iter().map(move |time| run(*warps, *time))).collect();
        read(Of::default(), Axis::Warps, &runs)
    }

    #[test]
    fn flat_is_no_lever() {
        let found = reading(&[(32, &[100.0, 101.0, 102.0]), (24, &[103.0]), (8, &[105.0])]);
        assert_eq!((found.answer, found.raising_helps, found.knee), (Some("flat"), Some("not_expected"), Some(8.0)));
        assert_eq!(found.lowest_slower_percent, Some(3.96));
        assert_eq!(
            found.says,
            "the time is flat from 8 to 32 warps (8 warps take 4.0 % longer than the best): occupancy is not the lever \
             there, and raising occupancy further can't be expected to help; more than 32 warps was not measured, and \
             this says nothing of it"
        );
    }

    #[test]
    fn the_knee_is_the_fewest_warps_that_are_as_fast() {
        let found = reading(&[(64, &[100.0]), (48, &[99.0]), (24, &[103.0]), (16, &[120.0]), (8, &[230.0])]);
        assert_eq!((found.answer, found.raising_helps, found.knee), (Some("knee"), Some("full"), Some(24.0)));
        assert!(found.says.contains("8 warps take 2.3 times as long"), "{}", found.says);
        assert!(found.says.ends_with("64 warps are all that an SM holds"), "{}", found.says);
        assert!(found.notes[0].contains("measured once"), "{:?}", found.notes);
    }

    #[test]
    fn where_the_highest_is_fastest_more_may_help() {
        let found = reading(&[(48, &[100.0, 101.0]), (40, &[110.0, 111.0]), (8, &[300.0, 301.0])]);
        assert_eq!((found.answer, found.raising_helps), (Some("rising"), Some("possible")));
        assert!(
            found.says.contains("40 warps take 9.9 % longer than 48 warps, 8 warps take 3.0 times"),
            "{}",
            found.says
        );
        let found = reading(&[(64, &[110.0]), (32, &[100.0]), (8, &[150.0])]);
        assert_eq!((found.answer, found.raising_helps), (Some("falling"), Some("full")));
        assert!(!found.notes.iter().any(|note| note.contains("nothing was measured between")), "{:?}", found.notes);
        let found = reading(&[(32, &[100.0]), (8, &[170.0])]);
        assert!(found.notes[1].starts_with("nothing was measured between 8 and 32 warps"), "{:?}", found.notes);
        let found = reading(&[(48, &[110.0]), (32, &[100.0])]);
        assert_eq!((found.answer, found.raising_helps), (Some("falling"), Some("not_expected")));
    }

    #[test]
    fn a_difference_within_the_spread_is_none() {
        let found = reading(&[(32, &[100.0, 104.0, 108.0]), (16, &[106.0, 112.0, 114.0])]);
        assert_eq!((found.answer, found.lowest_slower_percent), (Some("flat"), Some(7.69)));
        assert!(found.notes.iter().any(|note| note.contains("the repeats overlap")), "{:?}", found.notes);
        // One cold run of five changes neither median nor spread.
        let found = reading(&[(32, &[100.0, 100.0, 100.0, 100.0, 180.0]), (16, &[110.0, 110.0, 110.0, 110.0])]);
        assert_eq!(found.answer, Some("rising"));
        assert_eq!((found.points[0].low_ns, found.points[0].high_ns), (100_000.0, 100_000.0));
    }

    #[test]
    fn what_cannot_be_told() {
        assert_eq!(reading(&[]).reason_code, Some("no_measurements"));
        let found = reading(&[(32, &[100.0, 101.0])]);
        assert_eq!((found.reason_code, found.answer, found.points.len()), (Some("one_occupancy"), None, 1));
        let found = reading(&[(32, &[100.0, 140.0]), (16, &[100.0, 130.0])]);
        assert_eq!(found.reason_code, Some("too_noisy"));
    }

    #[test]
    fn points_that_are_out_of_order_are_told() {
        let found = reading(&[(64, &[100.0]), (48, &[120.0]), (32, &[101.0]), (8, &[200.0])]);
        assert_eq!((found.answer, found.knee), (Some("knee"), Some(32.0)));
        assert!(found.notes.iter().any(|note| note.starts_with("not in order: 48 warps")), "{:?}", found.notes);
    }
}
