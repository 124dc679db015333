//! A sweep as SVG: labelled axes, a line a shape, the current point and the steps marked. For pages and slides, also in
//! black and white. Not for terminals; that is [`crate::plot`].

use occupant_core::report::{SweepRecord, SweepReport};

use crate::names::cut;
use crate::sweep::{axis_words, label, range, ticks};
use crate::words::percent;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 48.0;
const PLOT_HEIGHT: f64 = 340.0;
/// Characters of a kernel's name in the legend.
const NAME: usize = 48;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 22.0;
/// Colours that people with colour blindness tell apart (Okabe and Ito), and dashes for black and white.
const LINES: [(&str, &str); 8] = [
    ("#0072B2", ""),
    ("#D55E00", "8 4"),
    ("#009E73", "3 3"),
    ("#CC79A7", "10 4 2 4"),
    ("#56B4E9", "5 2"),
    ("#E69F00", "2 5"),
    ("#000000", "12 3"),
    ("#8C6BB1", "6 3 1 3 1 3"),
];

/// The staircases as an SVG document.
#[must_use]
pub fn sweep_svg(report: &SweepReport) -> String {
    let height = TOP + PLOT_HEIGHT + 60.0 + LEGEND_LINE * report.sweeps.len() as f64 + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
         <title>Occupancy by {words}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\" font-weight=\"600\" fill=\"#222222\">Occupancy by {words}</text>\n",
        words = axis_words(report),
    );
    let scale = Scale::new(report);
    svg += &grid(report, &scale);
    for (sweep, line) in report.sweeps.iter().zip(LINES.iter().cycle()) {
        svg += &staircase(sweep, line, &scale, report.sweeps.len() == 1);
    }
    for (sweep, line) in report.sweeps.iter().zip(LINES.iter().cycle()) {
        svg += &current(report, sweep, line.0, &scale);
    }
    for (number, (sweep, line)) in report.sweeps.iter().zip(LINES.iter().cycle()).enumerate() {
        svg += &legend(report, sweep, line, TOP + PLOT_HEIGHT + 66.0 + LEGEND_LINE * number as f64);
    }
    svg + "</svg>\n"
}

/// From amounts and percentages to places.
struct Scale {
    first: u32,
    last: u32,
}

impl Scale {
    fn new(report: &SweepReport) -> Self {
        let (first, last) = range(report);
        Self { first, last }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value - f64::from(self.first)) / f64::from((self.last - self.first).max(1));
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(percent: f64) -> f64 {
        TOP + PLOT_HEIGHT * (1.0 - percent / 100.0)
    }
}

fn grid(report: &SweepReport, scale: &Scale) -> String {
    let mut svg = String::new();
    let (left, right, bottom) = (LEFT, WIDTH - RIGHT, Scale::y(0.0));
    for step in 0..=4_u32 {
        let (share, y) = (step * 25, Scale::y(f64::from(step) * 25.0));
        svg += &format!("<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n");
        let text = y + 4.5;
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"end\" fill=\"#444444\">{share} %</text>\n",
            left - 8.0
        );
    }
    for value in ticks(scale.first, scale.last, report.axis, 16) {
        let x = scale.x(f64::from(value));
        svg += &format!(
            "<line x1=\"{x:.1}\" y1=\"{bottom:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#888888\"/>\n",
            bottom + 5.0
        );
        svg += &format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444444\">{}</text>\n",
            bottom + 20.0,
            label(report, value)
        );
    }
    svg += &format!("<line x1=\"{left}\" y1=\"{bottom:.1}\" x2=\"{right}\" y2=\"{bottom:.1}\" stroke=\"#888888\"/>\n");
    let unit = if report.axis == "shared" { " (static and dynamic, bytes)" } else { "" };
    svg += &format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222222\">{}{unit}</text>\n",
        f64::midpoint(left, right),
        bottom + 42.0,
        axis_words(report)
    );
    let middle = TOP + PLOT_HEIGHT / 2.0;
    svg + &format!(
        "<text transform=\"translate(16 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">occupancy</text>\n"
    )
}

fn staircase(sweep: &SweepRecord, (colour, dashes): &(&str, &str), scale: &Scale, alone: bool) -> String {
    let mut path = String::new();
    let mut labels = String::new();
    let mut labelled = (f64::NEG_INFINITY, 0);
    for step in &sweep.steps {
        // Amounts are whole: a step ends halfway to the next one, so that edges are upright.
        let from = scale.x((f64::from(step.from) - 0.5).max(f64::from(scale.first)));
        let to = scale.x((f64::from(step.to) + 0.5).min(f64::from(scale.last)));
        let y = Scale::y(step.percent);
        path += &format!("{}{from:.1} {y:.1}L{to:.1} {y:.1}", if path.is_empty() { 'M' } else { 'L' });
        // Steps of one shape say how many blocks they are, where there is room.
        let blocks = step.blocks_per_sm;
        if alone && blocks > 0 && blocks != labelled.1 && from - labelled.0 > 14.0 {
            let (x, above) = (from + 3.0, y - 5.0);
            labels +=
                &format!("<text x=\"{x:.1}\" y=\"{above:.1}\" font-size=\"11\" fill=\"#666666\">{blocks}</text>\n");
            labelled = (from, blocks);
        }
    }
    let dash = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}/>\n{labels}"
    )
}

fn current(report: &SweepReport, sweep: &SweepRecord, colour: &str, scale: &Scale) -> String {
    let Some(point) = sweep.current.filter(|point| (scale.first..=scale.last).contains(&point.value)) else {
        return String::new();
    };
    let (x, y) = (scale.x(f64::from(point.value)), Scale::y(point.percent));
    let mut svg = format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n"
    );
    if report.sweeps.len() == 1 {
        let (anchor, at) = if x > WIDTH * 0.7 { ("end", x - 10.0) } else { ("start", x + 10.0) };
        svg += &format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-weight=\"600\" fill=\"#222222\">{}: {} blocks, {} warps</text>\n",
            y - 10.0,
            label(report, point.value),
            point.blocks_per_sm,
            point.warps_per_sm
        );
    }
    svg
}

fn legend(report: &SweepReport, sweep: &SweepRecord, (colour, dashes): &(&str, &str), y: f64) -> String {
    let dash = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    let now = sweep.current.map_or_else(String::new, |point| {
        format!(", now {} ({} %)", label(report, point.value), percent(point.percent))
    });
    let name = match &sweep.kernel {
        Some(kernel) => format!("{} on {}", cut(&kernel.demangled, NAME), sweep.gpu.name),
        None => sweep.gpu.name.clone(),
    };
    let alone = if report.sweeps.len() == 1 { "; steps: blocks per SM" } else { "" };
    format!(
        "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#222222\">{}: 100 % are {} warps{now}{alone}</text>\n",
        LEFT + 34.0,
        LEFT + 44.0,
        y + 4.5,
        escaped(&name),
        sweep.max_warps_per_sm
    )
}

/// Text in XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").chars().filter(|c| !c.is_control()).collect()
}
