//! `occupant launch` for people.

use occupant_core::report::{LaunchReport, TileRecord};

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, percent, wrapped};

/// The answer as text.
#[must_use]
pub fn launch_text(report: &LaunchReport, width: usize) -> String {
    let mut text = String::new();
    if !report.tiles.is_empty() {
        text += &wrapped(&best_tile(report), width, 0);
        text.push('\n');
        text += &tiles(&report.tiles).render(width);
    }
    // A question about tiles alone is not about one grid.
    if report.tiles.is_empty() || report.grid.is_some() {
        text += if text.is_empty() { "" } else { "\n" };
        text += &wrapped(&sentence(report), width, 0);
        text.push('\n');
        text += &facts(report).render(width);
    }
    for note in &report.notes {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text
}

fn sentence(report: &LaunchReport) -> String {
    let on = on_gpu(&report.gpu);
    if let Some(reason) = &report.reason {
        return format!("can't launch {on}: {reason}");
    }
    let slots = format!(
        "{} SMs hold {} at once, {} each",
        report.sms,
        count(report.blocks_per_wave, "block"),
        report.blocks_per_sm
    );
    let (Some(grid), Some(waves)) = (report.grid, report.waves) else { return format!("{on}: {slots}") };
    let efficiency = report.efficiency_percent.map_or_else(String::new, percent);
    let last = report.last_wave_percent.map_or_else(String::new, percent);
    let idle = report.idle_sms_last_wave.unwrap_or(0);
    let tail = if grid <= report.blocks_per_wave {
        format!("one wave that fills {last} % of the block slots")
    } else {
        format!("{} waves, the last one {last} % full", percent(waves))
    };
    format!(
        "{} {on}: {tail}; {} idle in it, {efficiency} % of the slots used; {slots}",
        count(grid, "block"),
        count(idle.into(), "SM")
    )
}

/// Tiles within this many percent points of the best are as good.
const TIE: f64 = 0.05;

fn best(tiles: &[TileRecord]) -> f64 {
    tiles.iter().map(|tile| tile.together_percent).fold(0.0, f64::max)
}

fn best_tile(report: &LaunchReport) -> String {
    let most = best(&report.tiles);
    let names: Vec<String> = report
        .tiles
        .iter()
        .filter(|tile| most - tile.together_percent < TIE)
        .map(|tile| format!("{}x{}", tile.tile[0], tile.tile[1]))
        .collect();
    let alike = if names.len() > 1 { " alike" } else { "" };
    format!(
        "{} {}: {} % of the block slots do useful work{alike}",
        names.join(", "),
        on_gpu(&report.gpu),
        percent(most)
    )
}

fn facts(report: &LaunchReport) -> Table {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push(Line::Cells(vec![name.to_owned(), value]));
    if let Some(grid) = report.grid {
        line("grid, blocks", grouped(grid));
    }
    line("SMs", report.sms.to_string());
    line("blocks per SM", report.blocks_per_sm.to_string());
    line("blocks at once", grouped(report.blocks_per_wave));
    if let Some(waves) = report.waves {
        line("waves", format!("{waves}"));
    }
    if let (Some(blocks), Some(share)) = (report.last_wave_blocks, report.last_wave_percent) {
        line("blocks of the last wave", format!("{} ({} %)", grouped(blocks), percent(share)));
    }
    if let Some(idle) = report.idle_sms_last_wave {
        line("SMs idle in it", idle.to_string());
    }
    if let Some(efficiency) = report.efficiency_percent {
        line("slots used", format!("{} %", percent(efficiency)));
    }
    line("largest cooperative grid", grouped(report.max_cooperative_grid));
    if let Some(cluster) = &report.cluster {
        let kind = if cluster.portable { "portable" } else { "needs the non-portable attribute" };
        line("blocks of a cluster", format!("{} ({kind})", cluster.blocks));
        line(
            "clusters at once, at most",
            format!("{} ({} blocks)", grouped(cluster.upper_bound), grouped(cluster.upper_bound_blocks)),
        );
        line("settled by", cluster.settled_by.to_owned());
    }
    Table { columns: vec![Column::left("", u8::MAX), Column::left("", u8::MAX)], lines, first_least: 26 }
}

fn tiles(tiles: &[TileRecord]) -> Table {
    let most = best(tiles);
    let line = |tile: &TileRecord| {
        let mark = if most - tile.together_percent < TIE { "<- most" } else { "" };
        Line::Cells(vec![
            format!("{}x{}", tile.tile[0], tile.tile[1]),
            tile.blocks_per_sm.to_string(),
            grouped(tile.grid),
            format!("{}", tile.waves),
            tile.idle_sms_last_wave.to_string(),
            percent(tile.efficiency_percent) + "%",
            percent(tile.useful_percent) + "%",
            percent(tile.together_percent) + "%",
            mark.to_owned(),
        ])
    };
    Table {
        columns: vec![
            Column::left("tile", u8::MAX),
            Column::right("per SM", 4),
            Column::right("grid", u8::MAX),
            Column::right("waves", u8::MAX),
            Column::right("idle at end", 5),
            Column::right("slots used", 3),
            Column::right("tiles useful", 2),
            Column::right("together", u8::MAX),
            Column::left("", 4),
        ],
        lines: tiles.iter().map(line).collect(),
        first_least: 7,
    }
}

/// Answers as rows: the grid's, and one a tile.
#[must_use]
pub fn launch_sheet(results: &[LaunchReport]) -> Sheet {
    let mut rows = Vec::new();
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for report in results {
        if report.tiles.is_empty() || report.grid.is_some() {
            rows.push(vec![
                report.gpu.name.clone(),
                report.sms.to_string(),
                report.blocks_per_sm.to_string(),
                String::new(),
                report.grid.map_or_else(String::new, |grid| grid.to_string()),
                text(report.waves),
                text(report.last_wave_percent),
                report.idle_sms_last_wave.map_or_else(String::new, |idle| idle.to_string()),
                text(report.efficiency_percent),
                String::new(),
                report.max_cooperative_grid.to_string(),
                report.launchable.to_string(),
                report.reason.clone().unwrap_or_default(),
            ]);
        }
        for tile in &report.tiles {
            rows.push(vec![
                report.gpu.name.clone(),
                report.sms.to_string(),
                tile.blocks_per_sm.to_string(),
                format!("{}x{}", tile.tile[0], tile.tile[1]),
                tile.grid.to_string(),
                tile.waves.to_string(),
                String::new(),
                tile.idle_sms_last_wave.to_string(),
                tile.efficiency_percent.to_string(),
                tile.useful_percent.to_string(),
                String::new(),
                report.launchable.to_string(),
                report.reason.clone().unwrap_or_default(),
            ]);
        }
    }
    Sheet {
        columns: vec![
            "gpu",
            "sms",
            "blocks_per_sm",
            "tile",
            "grid",
            "waves",
            "last_wave_percent",
            "idle_sms_last_wave",
            "efficiency_percent",
            "useful_percent",
            "max_cooperative_grid",
            "launchable",
            "reason",
        ],
        rows,
    }
}
