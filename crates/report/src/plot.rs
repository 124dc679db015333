//! A staircase in a terminal: fits a width, needs no colour. Not for: numbers; the table under it has them.

/// Rows of the plot, without its axis.
const ROWS: usize = 17;
/// Columns of the labels at the left.
const LABELS: usize = 6;

/// One staircase: at each of a row of places, a height of 0 to 1; and where the shape is.
pub(crate) struct Curve {
    /// Heights, one a column.
    pub(crate) heights: Vec<f64>,
    /// Lowest and highest heights that it may have, one pair a column; empty where it is exact.
    pub(crate) band: Vec<(f64, f64)>,
    /// Columns that are marked on the curve, and with what.
    pub(crate) marks: Vec<(usize, char)>,
}

/// The columns that a plot of `width` has for its curves.
pub(crate) fn columns(width: usize) -> usize {
    width.saturating_sub(LABELS + 1).clamp(10, 160)
}

/// Draws curves above an axis whose labels stand at some columns. One curve is a line; several are letters, `*` where they
/// fall together.
pub(crate) fn plot(curves: &[Curve], labels: &[(usize, String)], width: usize) -> String {
    let columns = columns(width);
    let mut canvas = vec![vec![' '; columns]; ROWS];
    for curve in curves {
        shade(&mut canvas, &curve.band);
    }
    for (number, curve) in curves.iter().enumerate() {
        match curves.len() {
            1 => line(&mut canvas, curve),
            _ => letters(&mut canvas, curve, letter(number)),
        }
    }
    for curve in curves {
        for (column, mark) in &curve.marks {
            if let Some(height) = curve.heights.get(*column) {
                canvas[row(*height)][*column] = *mark;
            }
        }
    }
    let mut text = String::new();
    for (index, cells) in canvas.iter().enumerate() {
        let label = if index % 4 == 0 { format!("{:>4}%", 100 - index * 100 / (ROWS - 1)) } else { String::new() };
        let cells: String = cells.iter().collect();
        text += format!("{label:>5} │{cells}").trim_end();
        text.push('\n');
    }
    text + &axis(labels, columns)
}

/// The letter of a curve among several.
pub(crate) fn letter(number: usize) -> char {
    char::from(b'a' + u8::try_from(number % 26).unwrap_or(0))
}

fn row(height: f64) -> usize {
    let from_below = (height.clamp(0.0, 1.0) * (ROWS - 1) as f64).round() as usize;
    ROWS - 1 - from_below
}

fn line(canvas: &mut [Vec<char>], curve: &Curve) {
    let rows: Vec<usize> = curve.heights.iter().map(|height| row(*height)).collect();
    for (column, at) in rows.iter().copied().enumerate() {
        let before = if column == 0 { at } else { rows[column - 1] };
        canvas[at][column] = match at.cmp(&before) {
            std::cmp::Ordering::Equal => '─',
            std::cmp::Ordering::Greater => '└',
            std::cmp::Ordering::Less => '┌',
        };
        for cells in canvas.iter_mut().take(before.max(at)).skip(before.min(at) + 1) {
            cells[column] = '│';
        }
        if before != at {
            canvas[before][column] = if at > before { '┐' } else { '┘' };
        }
    }
}

/// Dots between the lowest and the highest heights.
fn shade(canvas: &mut [Vec<char>], band: &[(f64, f64)]) {
    for (column, (low, high)) in band.iter().enumerate() {
        for cells in canvas.iter_mut().take(row(*low) + 1).skip(row(*high)) {
            if let Some(cell) = cells.get_mut(column) {
                *cell = '·';
            }
        }
    }
}

fn letters(canvas: &mut [Vec<char>], curve: &Curve, letter: char) {
    for (column, height) in curve.heights.iter().enumerate() {
        let cell = &mut canvas[row(*height)][column];
        *cell = if matches!(cell, ' ' | '·') { letter } else { '*' };
    }
}

fn axis(labels: &[(usize, String)], columns: usize) -> String {
    let mut ticks = vec!['─'; columns];
    let mut words = String::new();
    for (column, label) in labels {
        // A label that would touch the one before is left out, and its tick with it.
        let start = column.saturating_sub(label.len() / 2).min(columns.saturating_sub(label.len()));
        if !words.is_empty() && start <= words.len() {
            continue;
        }
        words += &" ".repeat(start - words.len());
        words += label;
        if let Some(tick) = ticks.get_mut(*column) {
            *tick = '┴';
        }
    }
    format!("      └{}\n       {words}\n", ticks.iter().collect::<String>())
}
