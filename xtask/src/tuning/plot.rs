//! The tuning spaces as one SVG: a panel a space, speed over occupancy, a dot for each place where configurations lie.
//! Colours and fonts are those of the program's own pictures. Not for: parts that are only in the table.

use std::collections::BTreeMap;

use super::space::{Configuration, Part, Space};
use super::statistics::{RULE, Summary};
use super::table::thousands;

const WIDTH: f64 = 956.0;
const HEIGHT: f64 = 446.0;
/// Left edge of the first panel.
const LEFT: f64 = 58.0;
const PANEL_WIDTH: f64 = 266.0;
/// From one panel's left edge to the next one's.
const PANEL_STEP: f64 = 304.0;
const TOP: f64 = 102.0;
const PANEL_HEIGHT: f64 = 250.0;
/// Speed is counted in steps of this many percent; one dot stands for all configurations of a step at an occupancy.
const STEP: f64 = 1.0;
/// Dots by the configurations they stand for: from how many on, diameter and opacity. The last that fits counts.
const DOTS: [(usize, f64, f64); 4] = [(1, 2.2, 0.45), (3, 2.7, 0.6), (8, 3.2, 0.75), (20, 3.8, 0.9)];
const DOT: &str = "#0072B2";
const FASTEST: &str = "#D55E00";

/// The picture, of the parts that are pictured.
pub(super) fn svg(spaces: &[(&Part, Space, Summary)]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
         <title>Speed over theoretical occupancy in three measured tuning spaces</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\" font-weight=\"600\" fill=\"#222222\">Occupancy is not speed: \
         every configuration of a kernel, measured</text>\n"
    );
    let pictured = spaces.iter().filter(|(part, ..)| part.pictured);
    for (number, (part, space, summary)) in pictured.enumerate() {
        let left = LEFT + PANEL_STEP * number as f64;
        svg += &frame(left, number == 0);
        svg += &heading(left, part, space, summary);
        svg += &dots(left, &space.configurations);
    }
    let middle = TOP + PANEL_HEIGHT / 2.0;
    svg += &format!(
        "<text transform=\"translate(16 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">speed, % of the \
         fastest</text>\n"
    );
    svg + &legend() + "</svg>\n"
}

fn x(left: f64, occupancy: f64) -> f64 {
    left + PANEL_WIDTH * occupancy / 100.0
}

fn y(speed: f64) -> f64 {
    TOP + PANEL_HEIGHT * (1.0 - speed / 100.0)
}

/// Grid lines and axes; the names of the speeds only where `named`.
fn frame(left: f64, named: bool) -> String {
    let mut svg = String::new();
    let (right, bottom) = (left + PANEL_WIDTH, y(0.0));
    for step in 0..=4_u32 {
        let share = f64::from(step) * 25.0;
        let (across, up) = (x(left, share), y(share));
        svg += &format!("<path d=\"M{left} {up:.1}H{right}\" stroke=\"#dddddd\"/>\n");
        if named {
            svg += &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444444\">{share}</text>\n",
                left - 8.0,
                up + 4.5
            );
        }
        svg += &format!(
            "<path d=\"M{across:.1} {bottom:.1}v5\" stroke=\"#888888\"/>\n\
             <text x=\"{across:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444444\">{share}</text>\n",
            bottom + 20.0
        );
    }
    svg += &format!("<path d=\"M{left} {bottom:.1}H{right}\" stroke=\"#888888\"/>\n");
    svg += &format!(
        "<path d=\"M{0:.1} {TOP}V{bottom:.1}\" stroke=\"#999999\" stroke-dasharray=\"4 4\"/>\n",
        x(left, RULE)
    );
    svg + &format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222222\">theoretical occupancy, %</text>\n",
        left + PANEL_WIDTH / 2.0,
        bottom + 40.0
    )
}

fn heading(left: f64, part: &Part, space: &Space, summary: &Summary) -> String {
    format!(
        "<text x=\"{left}\" y=\"{:.1}\" font-weight=\"600\" fill=\"#222222\">{}, {}</text>\n\
         <text x=\"{left}\" y=\"{:.1}\" font-size=\"12\" fill=\"#444444\">{} configurations ({})</text>\n\
         <text x=\"{left}\" y=\"{:.1}\" font-size=\"12\" fill=\"#444444\">rank correlation {:+.2}</text>\n",
        TOP - 47.0,
        part.kernel,
        part.gpu,
        TOP - 30.0,
        thousands(space.configurations.len()),
        part.rows.replace('`', ""),
        TOP - 14.0,
        summary.correlation
    )
}

/// A place: occupancy in hundredths of a percent, speed in steps.
type Place = (u32, u32);

/// The places of some configurations with how many lie there. `best` is the shortest time, in milliseconds.
fn places<'a>(configurations: impl Iterator<Item = &'a Configuration>, best: f64) -> BTreeMap<Place, usize> {
    let mut places = BTreeMap::new();
    for it in configurations {
        let place = ((it.occupancy * 100.0).round() as u32, (100.0 * best / it.time / STEP).round() as u32);
        *places.entry(place).or_insert(0) += 1;
    }
    places
}

/// A line of no length with round ends is a dot: a path of them is far smaller than as many circles.
fn path<'a>(left: f64, places: impl Iterator<Item = &'a Place>) -> String {
    places
        .map(|&(occupancy, speed)| {
            format!("M{:.1} {:.1}h0", x(left, f64::from(occupancy) / 100.0), y(f64::from(speed) * STEP))
        })
        .collect()
}

fn dots(left: f64, configurations: &[Configuration]) -> String {
    let mut by_time: Vec<&Configuration> = configurations.iter().collect();
    by_time.sort_by(|a, b| a.time.total_cmp(&b.time));
    let best = by_time[0].time;
    let all = places(by_time.iter().copied(), best);
    let mut svg = String::from("<g fill=\"none\" stroke-linecap=\"round\">\n");
    for (number, &(least, diameter, opacity)) in DOTS.iter().enumerate() {
        let next = DOTS.get(number + 1).map_or(usize::MAX, |dot| dot.0);
        let here = all.iter().filter(|(_, count)| (least..next).contains(count)).map(|(place, _)| place);
        svg += &format!(
            "<path d=\"{}\" stroke=\"{DOT}\" stroke-width=\"{diameter}\" stroke-opacity=\"{opacity}\"/>\n",
            path(left, here)
        );
    }
    let fastest = places(by_time[..(by_time.len() / 100).max(1)].iter().copied(), best);
    // A ring, so that it is told from a dot without colour too.
    let rings = path(left, fastest.keys());
    svg += &format!("<path d=\"{rings}\" stroke=\"{FASTEST}\" stroke-width=\"8\"/>\n");
    svg += &format!("<path d=\"{rings}\" stroke=\"#ffffff\" stroke-width=\"4.6\"/>\n</g>\n");
    svg
}

fn legend() -> String {
    let y = HEIGHT - 22.0;
    let text = y + 4.5;
    let mut svg = String::from("<g fill=\"none\" stroke-linecap=\"round\">\n");
    for (number, (_, diameter, opacity)) in DOTS.iter().enumerate() {
        let x = LEFT + 6.0 + 9.0 * number as f64;
        svg += &format!(
            "<path d=\"M{x} {y}h0\" stroke=\"{DOT}\" stroke-width=\"{diameter}\" stroke-opacity=\"{opacity}\"/>\n"
        );
    }
    let (ring, line) = (LEFT + 330.0, LEFT + 500.0);
    svg += &format!(
        "<path d=\"M{ring} {y}h0\" stroke=\"{FASTEST}\" stroke-width=\"8\"/>\n\
         <path d=\"M{ring} {y}h0\" stroke=\"#ffffff\" stroke-width=\"4.6\"/>\n\
         <path d=\"M{line} {y}h26\" stroke=\"#999999\" stroke-dasharray=\"4 4\" stroke-linecap=\"butt\"/>\n</g>\n"
    );
    let counts: Vec<String> = DOTS.iter().map(|dot| dot.0.to_string()).collect();
    svg += &format!(
        "<text x=\"{:.1}\" y=\"{text:.1}\" fill=\"#222222\">{} or more configurations</text>\n",
        LEFT + 46.0,
        counts.join(", ")
    );
    svg += &format!("<text x=\"{:.1}\" y=\"{text:.1}\" fill=\"#222222\">the fastest 1 %</text>\n", ring + 12.0);
    svg + &format!(
        "<text x=\"{:.1}\" y=\"{text:.1}\" fill=\"#222222\">the rule \"at least {RULE} %\"</text>\n",
        line + 34.0
    )
}
