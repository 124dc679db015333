//! Units of metrics by their names. Reports store none; the profiler adds them from a table of its own.

/// What a counter counts, by a part of its name; the first that is found decides.
const COUNTERS: [(&str, &str); 20] = [
    ("_pct", "%"),
    ("per_request", "sector"),
    ("data_bytes_per_sector", "byte/sector"),
    ("thread_inst_executed", "thread"),
    ("threads", "thread"),
    ("thread_count", "thread"),
    ("registers_per_thread", "register/thread"),
    ("launch__occupancy_limit_", "block"),
    ("launch__sm_count", "SM"),
    ("shared_mem_config_size", "byte"),
    ("launch__shared_mem_", "byte/block"),
    ("bytes", "byte"),
    ("sectors", "sector"),
    ("requests", "request"),
    ("time_duration", "ns"),
    ("warp_latency_per_inst", "cycle"),
    ("cycles", "cycle"),
    ("writeback_active", "cycle"),
    ("inst_", "inst"),
    ("warps", "warp"),
];

/// The unit of a metric's value, such as `byte/s` or `%`; empty where it is a plain number.
#[must_use]
pub fn unit(metric: &str) -> String {
    let (counter, of) = metric.split_once('.').unwrap_or((metric, ""));
    if of.ends_with("pct") || of.contains("pct_of_peak") {
        return "%".to_owned();
    }
    // Stalls are counted in warps waiting for each instruction issued.
    if counter.contains("issue_stalled") && of == "ratio" {
        return "inst".to_owned();
    }
    let counted = COUNTERS.iter().find(|(part, _)| counter.contains(part)).map_or("", |(_, unit)| unit);
    let of_time = if of.ends_with("per_second") {
        "s"
    } else if of.contains("per_cycle") || of.ends_with("peak_sustained") {
        "cycle"
    } else {
        return counted.to_owned();
    };
    match (counted, of_time) {
        ("", _) => String::new(),
        ("cycle", "s") => "hz".to_owned(),
        // Warps of each cycle: a mean number of them.
        ("warp", "cycle") => "warp".to_owned(),
        (counted, of_time) => format!("{counted}/{of_time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_the_profiler_prints_them() {
        let known = [
            ("dram__bytes_read.sum.per_second", "byte/s"),
            ("dram__bytes.sum.peak_sustained", "byte/cycle"),
            ("gpc__cycles_elapsed.avg.per_second", "hz"),
            ("gpu__time_duration.sum", "ns"),
            ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
            ("smsp__warps_eligible.avg.per_cycle_active", "warp"),
            ("smsp__inst_executed.avg.per_cycle_active", "inst/cycle"),
            ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "inst"),
            ("launch__registers_per_thread", "register/thread"),
            ("launch__shared_mem_per_block_static", "byte/block"),
            ("l1tex__t_sector_hit_rate.pct", "%"),
            ("launch__waves_per_multiprocessor", ""),
        ];
        for (metric, expected) in known {
            assert_eq!(unit(metric), expected, "{metric}");
        }
    }
}
