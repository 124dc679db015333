//! The curve of a need as SVG: throughput against resident warps, with HAVE, NEED, the band and the ceiling. Not for
//! terminals; that is [`crate::need`].

use occupant_core::report::{CurvePoint, KernelRecord, NeedRecord, resource_words};

use crate::names::cut;
use crate::svg::escaped;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 74.0;
const PLOT_HEIGHT: f64 = 320.0;
/// Okabe and Ito: told apart also with colour blindness.
const LINE: &str = "#0072B2";
const HAVE: &str = "#D55E00";
const NEED: &str = "#009E73";

/// The curve of one kernel; `None` where it has none.
#[must_use]
pub fn need_svg(kernel: &KernelRecord) -> Option<String> {
    let need = kernel.need.as_deref()?;
    let curve = need.curve.as_deref()?;
    let last = f64::from(curve.last()?.warps).max(1.0);
    let x = |warps: f64| LEFT + warps / last * (WIDTH - LEFT - RIGHT);
    let height = TOP + PLOT_HEIGHT + 84.0;
    let title = escaped(&cut(&kernel.demangled, 90));
    let gpu = kernel.gpu.as_ref().map_or("", |gpu| gpu.name.as_str());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
         <title>Throughput of {title} by resident warps</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"26\" font-size=\"16\" font-weight=\"600\" fill=\"#222222\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"47\" fill=\"#444444\">{}</text>\n",
        escaped(&subtitle(gpu, need))
    );
    svg += &grid(last, &x);
    svg += &band(curve, &x);
    let points: Vec<String> =
        curve.iter().map(|p| format!("{:.1},{:.1}", x(f64::from(p.warps)), y(p.percent))).collect();
    svg +=
        &format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{LINE}\" stroke-width=\"2.2\"/>\n", points.join(" "));
    svg += &marks(need, last, &x);
    Some(svg + &legend(need, height) + "</svg>\n")
}

/// HAVE against NEED in a line.
fn subtitle(gpu: &str, need: &NeedRecord) -> String {
    let have = need.have_warps.map_or_else(String::new, |have| format!("has {have} warps, "));
    let needed = need.needed.map_or_else(String::new, |needed| format!("needs {:.0}", needed.exact_warps.ceil()));
    let band =
        need.band.map_or_else(String::new, |band| format!(" ({:.0} to {:.0})", band.low.floor(), band.high.ceil()));
    let of = resource_words(need.binding.unwrap_or("issue"));
    format!("{gpu}: {have}{needed}{band} for {} % of {of}", need.target)
}

fn y(percent: f64) -> f64 {
    TOP + PLOT_HEIGHT * (1.0 - percent / 100.0)
}

fn grid(last: f64, x: &dyn Fn(f64) -> f64) -> String {
    let mut svg = String::new();
    for share in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let at = y(share);
        svg += &format!(
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\n",
            WIDTH - RIGHT
        );
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444444\">{share} %</text>\n",
            LEFT - 8.0,
            at + 4.5
        );
    }
    let step = if last > 32.0 { 8 } else { 4 };
    for warps in (0..=last as u32).step_by(step) {
        let (at, below) = (x(f64::from(warps)), y(0.0));
        svg += &format!(
            "<line x1=\"{at:.1}\" y1=\"{below:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#888888\"/>\n",
            below + 5.0
        );
        svg += &format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444444\">{warps}</text>\n",
            below + 20.0
        );
    }
    let (ceiling, middle) = (y(100.0), TOP + PLOT_HEIGHT / 2.0);
    svg += &format!(
        "<line x1=\"{LEFT}\" y1=\"{ceiling:.1}\" x2=\"{:.1}\" y2=\"{ceiling:.1}\" stroke=\"#222222\" stroke-dasharray=\"6 4\"/>\n",
        WIDTH - RIGHT
    );
    svg + &format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222222\">resident warps of an SM</text>\n\
         <text transform=\"translate(16 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">share of the ceiling</text>\n",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        y(0.0) + 42.0
    )
}

fn band(curve: &[CurvePoint], x: &dyn Fn(f64) -> f64) -> String {
    let upper = curve.iter().map(|p| format!("{:.1},{:.1}", x(f64::from(p.warps)), y(p.high)));
    let lower = curve.iter().rev().map(|p| format!("{:.1},{:.1}", x(f64::from(p.warps)), y(p.low)));
    let points: Vec<String> = upper.chain(lower).collect();
    format!("<polygon points=\"{}\" fill=\"{LINE}\" fill-opacity=\"0.14\"/>\n", points.join(" "))
}

/// Upright lines where the kernel is and where it would have to be, each with its words.
fn marks(need: &NeedRecord, last: f64, x: &dyn Fn(f64) -> f64) -> String {
    let mut svg = String::new();
    let mut mark = |warps: f64, percent: f64, colour: &str, dash: &str| {
        let (at, on) = (x(warps), y(percent));
        svg += &format!(
            "<line x1=\"{at:.1}\" y1=\"{on:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"1.6\"{dash}/>\n\
             <circle cx=\"{at:.1}\" cy=\"{on:.1}\" r=\"5.5\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n",
            y(0.0)
        );
    };
    if let Some(needed) = need.needed.filter(|needed| needed.exact_warps <= last) {
        mark(needed.exact_warps, need.target, NEED, " stroke-dasharray=\"5 4\"");
    }
    if let (Some(have), Some(percent)) = (need.have_warps, need.throughput_percent) {
        mark(f64::from(have), percent, HAVE, "");
    }
    svg
}

fn legend(need: &NeedRecord, height: f64) -> String {
    let have = need.have_warps.map_or_else(String::new, |have| format!("has {have} warps"));
    let needed =
        need.needed.map_or_else(String::new, |needed| format!("needs {:.1} for {} %", needed.exact_warps, need.target));
    let entries =
        [(HAVE, have), (NEED, needed), (LINE, "model, with its band".to_owned()), ("#222222", "ceiling".to_owned())];
    let at = height - 16.0;
    let mut svg = String::new();
    let mut left = LEFT;
    for (colour, words) in entries.iter().filter(|(_, words)| !words.is_empty()) {
        svg += &format!(
            "<line x1=\"{left:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#222222\">{words}</text>\n",
            left + 24.0,
            left + 31.0,
            at + 4.5
        );
        left += 55.0 + 7.3 * words.len() as f64;
    }
    svg
}
