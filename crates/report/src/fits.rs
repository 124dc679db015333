//! `occupant fit` for several GPUs or kernels: a line each, or, of many, the counts and those that do not fit.

use occupant_core::report::{Basis, FitReport};

use crate::fit::{change_words, is_empty};
use crate::names::{cut, distinct};
use crate::places::Place;
use crate::table::{Column, Line, Table};
use crate::words::{mark, percent, printable, resource, wrapped};

/// Beyond so many answers, those that fit are counted and not listed.
const MANY: usize = 120;
/// Of those that do not fit, so many are listed.
const LISTED: usize = 40;

/// Several answers. Where they come from files, under each kernel's name.
#[must_use]
pub fn fits_text(results: &[FitReport], width: usize) -> String {
    let many = results.len() > MANY;
    let refused = |report: &&FitReport| report.launchable == Some(false);
    let shown: Vec<&FitReport> =
        if many { results.iter().filter(refused).take(LISTED).collect() } else { results.iter().collect() };
    let mut text = if many { per_gpu(results).render(width) } else { String::new() };
    if many && !shown.is_empty() {
        text += "\nthose that can't launch:\n\n";
    }
    if !shown.is_empty() {
        text += &listed(&shown, width);
    }
    text += &legend(&shown, width);
    if !many {
        text += &format!("\n{}", totals(results));
        return text + &reasons(results, width);
    }
    let hidden = results.iter().filter(refused).count().saturating_sub(shown.len());
    if hidden > 0 {
        text += &format!("{} more can't launch\n", hidden);
    }
    text + &wrapped("narrow with --kernel and --arch for a line each, or take --format csv", width, 2)
}

fn totals(results: &[FitReport]) -> String {
    let fitting = results.iter().filter(|report| report.launchable == Some(true)).count();
    let without = results.iter().filter(|report| report.launchable.is_none()).count();
    let without = if without > 0 { format!("; {without} without an image") } else { String::new() };
    format!("{fitting} of {} fit{without}\n", results.len())
}

/// How many kernels fit on each GPU.
fn per_gpu(results: &[FitReport]) -> Table {
    let mut gpus: Vec<&str> = Vec::new();
    for report in results {
        if !gpus.contains(&report.gpu.name.as_str()) {
            gpus.push(&report.gpu.name);
        }
    }
    let line = |gpu: &&str| {
        let of = |wanted: Option<bool>| {
            results.iter().filter(|report| report.gpu.name == *gpu && report.launchable == wanted).count()
        };
        let (yes, no, without) = (of(Some(true)), of(Some(false)), of(None));
        let cells =
            [(*gpu).to_owned(), (yes + no + without).to_string(), yes.to_string(), no.to_string(), without.to_string()];
        Line::Cells(cells.to_vec())
    };
    Table {
        columns: vec![
            Column::left("gpu", u8::MAX),
            Column::right("kernels", u8::MAX),
            Column::right("can launch", u8::MAX),
            Column::right("can't", u8::MAX),
            Column::right("no image", 1),
        ],
        lines: gpus.iter().map(line).collect(),
        first_least: 12,
    }
}

fn legend(shown: &[&FitReport], width: usize) -> String {
    let any = |wanted| shown.iter().any(|report| report.occupancy.as_ref().is_some_and(|found| found.basis == wanted));
    let mut text = String::new();
    if shown.iter().any(|report| report.wanted.is_some_and(|wanted| wanted.given)) {
        text += &wrapped("capped at: registers per thread, by launch bounds with that minimum of blocks", width, 2);
    }
    if any(Basis::UpperBound) {
        text += &wrapped(
            "<= at most: dynamic shared memory or the block is not known (--shared-dynamic, --launches)",
            width,
            2,
        );
    }
    if any(Basis::Hypothetical) {
        text += &wrapped("~ at an assumed block of 256 threads (--block, --launches)", width, 2);
    }
    text
}

fn listed(shown: &[&FitReport], width: usize) -> String {
    let with_images = shown.iter().any(|report| report.kernel.is_some());
    let given = shown.iter().any(|report| report.wanted.is_some_and(|wanted| wanted.given));
    let mut columns = vec![
        Column::left("gpu", u8::MAX),
        Column::right("cc", 2),
        Column::left("image", 6),
        Column::right("registers", 1),
        Column::right("capped at", 8),
        Column::right("blocks", u8::MAX),
        Column::right("warps", 4),
        Column::right("occupancy", 3),
        Column::left("limited by", 7),
        Column::left(
            if given { "to reach the blocks" } else { "one more block needs" },
            if given { u8::MAX } else { 5 },
        ),
    ];
    // What no answer has is left out.
    let kept: Vec<bool> =
        (0..columns.len()).map(|index| (index != 2 || with_images) && (index != 4 || given)).collect();
    let keep = |cells: Vec<String>| -> Vec<String> {
        cells.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect()
    };
    let mut lines = Vec::new();
    let mut last = None;
    let names: Vec<&str> =
        shown.iter().map(|report| report.kernel.as_ref().map_or("", |kernel| &*kernel.demangled)).collect();
    let cut_names = if with_images { distinct(&names, width) } else { Vec::new() };
    let places: Vec<Option<Place<'_>>> =
        shown.iter().map(|report| report.kernel.as_ref().map(Place::of_name)).collect();
    let tell_places = places.iter().flatten().any(|place| place.member.is_some() || Some(*place) != places[0]);
    let mut last_place = None;
    for (number, report) in shown.iter().enumerate() {
        let name = report.kernel.as_ref().map(|kernel| &kernel.name);
        let place = places[number].filter(|_| tell_places);
        if place.is_some() && place != last_place {
            lines.extend(place.map(|place| Line::Heading(format!("{}:", printable(&place.to_string())))));
            (last, last_place) = (None, place);
        }
        if name.is_some() && name != last {
            lines.push(Line::Heading(cut_names.get(number).cloned().unwrap_or_else(|| cut(names[number], width))));
        }
        last = name.or(last);
        lines.push(Line::Cells(keep(line(report))));
    }
    let mut kept_columns = kept.iter();
    columns.retain(|_| kept_columns.next().copied().unwrap_or(true));
    let widest = shown.iter().map(|report| report.gpu.name.len()).max().unwrap_or(0);
    Table { columns, lines, first_least: widest }.render(width)
}

/// Why some do not fit, each reason once with the GPUs it holds for.
fn reasons(results: &[FitReport], width: usize) -> String {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for report in results {
        let Some(reason) = report.reason.as_deref() else { continue };
        // That there is no image is the same for all capabilities of which it is said.
        let same = match reason.strip_prefix("no image runs on ").and_then(|rest| rest.split_once(": ")) {
            Some((_, why)) => format!("no image, {why}"),
            None => reason.to_owned(),
        };
        match told.iter_mut().find(|(known, _)| *known == same) {
            Some((_, gpus)) if !gpus.contains(&report.gpu.name.as_str()) => gpus.push(&report.gpu.name),
            Some(_) => {}
            None => told.push((same, vec![&report.gpu.name])),
        }
    }
    told.iter().map(|(reason, gpus)| wrapped(&format!("{}: {reason}", gpus.join(", ")), width, 2)).collect()
}

fn line(report: &FitReport) -> Vec<String> {
    let image = report
        .kernel
        .as_ref()
        .map_or_else(String::new, |kernel| kernel.arch.clone().unwrap_or_else(|| "none".to_owned()));
    let registers = report.input.as_ref().map_or_else(String::new, |input| input.registers.to_string());
    let gpu = (report.gpu.name.clone(), report.gpu.compute_capability.clone());
    let Some(found) = &report.occupancy else {
        let dash = || "-".to_owned();
        let no = "no image".to_owned();
        return vec![gpu.0, gpu.1, image, registers, dash(), dash(), dash(), dash(), no, String::new()];
    };
    let row = report.room.iter().find(|row| Some(row.blocks) == report.wanted.map(|wanted| wanted.blocks));
    let cap = row.map_or_else(|| "-".to_owned(), |row| row.register_cap.to_string());
    let limit = if report.launchable == Some(true) {
        found.limiters.iter().map(|name| resource(name)).collect::<Vec<_>>().join(", ")
    } else {
        "can't launch".to_owned()
    };
    let change = match report.solutions.first() {
        Some(first) if is_empty(&first.change) => "nothing".to_owned(),
        Some(first) => change_words(&first.change),
        None if report.wanted.is_none() => "nothing: full".to_owned(),
        None => "no way".to_owned(),
    };
    vec![
        gpu.0,
        gpu.1,
        image,
        registers,
        cap,
        found.blocks_per_sm.to_string(),
        format!("{}/{}", found.warps_per_sm, found.max_warps_per_sm),
        format!("{}{}%", mark(found.basis), percent(found.percent)),
        limit,
        change,
    ]
}
