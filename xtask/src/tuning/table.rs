//! The numbers of the tuning spaces as a Markdown table: one column a space. Not for: working them out
//! ([`super::statistics`]).

use super::space::{Part, Space};
use super::statistics::{Share, Spread, Summary};

/// What fills a row, for each space.
type Cell = fn(&Space, &Summary) -> String;

const ROWS: [(&str, Cell); 13] = [
    ("configurations that ran", |space, _| thousands(space.configurations.len())),
    ("configurations that did not compile or run", |space, _| thousands(space.invalid)),
    ("rank correlation of occupancy and speed", |_, it| format!("{:+.2}", it.correlation)),
    ("median occupancy of all", |_, it| percent(it.median)),
    ("median occupancy of the fastest 1 %", |_, it| percent(it.fastest.median)),
    ("lowest to highest occupancy of the fastest 1 %", |_, it| spread(&it.fastest)),
    ("highest occupancy", |_, it| percent(it.highest)),
    ("share of all that have the highest", |_, it| share(&it.at_highest)),
    ("loss of those: least / median / most", |_, it| {
        let Spread { least, median, most } = it.loss_at_highest;
        format!("{} / {} / {}", percent(least), percent(median), percent(most))
    }),
    ("loss of a random choice, median", |_, it| percent(it.loss_blind)),
    ("loss of the fastest at 50 % occupancy or less", |_, it| it.loss_low.map_or_else(|| "-".to_owned(), percent)),
    ("\"at least 50 %\" drops of all", |_, it| share(&it.dropped)),
    ("\"at least 50 %\" drops of the fastest 1 %", |_, it| {
        format!("{} of {}", it.dropped_fastest.part, it.dropped_fastest.whole)
    }),
];

/// Every space as a column.
pub(super) fn markdown(spaces: &[(&Part, Space, Summary)]) -> String {
    let mut table = String::from("| |");
    for (part, ..) in spaces {
        table += &format!(" {}, {}, {} |", part.kernel, part.gpu, part.rows);
    }
    table += &format!("\n| --- |{}\n", " --- |".repeat(spaces.len()));
    for (name, cell) in ROWS {
        table += &format!("| {name} |");
        for (_, space, summary) in spaces {
            table += &format!(" {} |", cell(space, summary));
        }
        table.push('\n');
    }
    table
}

/// Whole percents; below 10 a decimal, where it isn't 0.
fn percent(value: f64) -> String {
    let decimals = usize::from(value < 9.95);
    let text = format!("{value:.decimals$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

fn share(share: &Share) -> String {
    percent(100.0 * share.part as f64 / share.whole as f64)
}

fn spread(spread: &Spread) -> String {
    format!("{} to {}", percent(spread.least), percent(spread.most))
}

/// A count with commas between thousands.
pub(super) fn thousands(count: usize) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", thousands(count / 1000), count % 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!([0.0, 0.49, 7.0, 9.96, 70.3].map(percent), ["0 %", "0.5 %", "7 %", "10 %", "70 %"]);
        assert_eq!([7, 1000, 11_130, 1_002_003].map(thousands), ["7", "1,000", "11,130", "1,002,003"]);
    }
}
