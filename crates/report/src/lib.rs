//! From a report to text: one renderer a file, each a pure function from data to a string.
//!
//! For: what people read (text, Markdown) and what other programs read (JSON, CSV). Not for: deciding anything; a
//! renderer leaves out what does not fit and never changes a number.

mod budget;
mod calc;
mod explain;
mod fit;
mod fits;
mod gpus;
mod inspect;
mod json;
mod json_line;
mod launch;
mod names;
mod need;
mod need_numbers;
mod need_svg;
mod places;
mod plot;
mod probe;
mod sass;
mod sheet;
mod summary;
mod svg;
mod sweep;
mod table;
mod verdict;
mod with_image;
mod words;

pub use budget::{budget_sheet, budget_text, budgets_text};
pub use calc::{calc_sheet, calc_text, matrix_text};
pub use explain::{explain_sheet, explain_text};
pub use fit::{fit_sheet, fit_text};
pub use fits::fits_text;
pub use gpus::{gpus_sheet, gpus_text};
pub use inspect::{Listing, inspect_markdown, inspect_sheet, inspect_text};
pub use json::{append_json_line, json, json_line};
pub use launch::{launch_sheet, launch_text};
pub use need::{need_sheet, need_text};
pub use need_numbers::{need_numbers_sheet, need_numbers_text};
pub use need_svg::need_svg;
pub use probe::{probe_plan_sheet, probe_plan_text, probe_reading_sheet, probe_reading_text};
pub use sass::{Detail, SASS_KERNELS, sass_sheet, sass_text};
pub use sheet::Sheet;
pub use summary::{summary_markdown, summary_sheet, summary_text};
pub use svg::sweep_svg;
pub use sweep::{sweep_sheet, sweep_text};
pub use verdict::{verdict_markdown, verdict_sheet, verdict_text};
pub use words::{count, grouped, printable};
