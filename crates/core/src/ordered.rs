//! Works jobs on several threads and delivers their results in order, with few of them waiting at a time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Results that may wait for an earlier one, for each thread.
const AHEAD: usize = 4;

struct State<R> {
    next: usize,
    delivered: usize,
    /// A job that panicked has its panic for a result, so that nobody waits for it for ever.
    ready: BTreeMap<usize, std::thread::Result<R>>,
}

/// Works every job with `work` on up to `threads` threads; each thread has a `Local` of its own, such as a buffer.
/// `deliver` is called on this thread, in the order of the jobs.
pub(crate) fn for_each<J: Sync, R: Send, Local: Default>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J, &mut Local) -> R + Sync,
    mut deliver: impl FnMut(&J, R),
) {
    let threads = threads.min(jobs.len());
    if threads <= 1 {
        let mut local = Local::default();
        jobs.iter().for_each(|job| deliver(job, work(job, &mut local)));
        return;
    }
    let state = Mutex::new(State { next: 0, delivered: 0, ready: BTreeMap::new() });
    let changed = Condvar::new();
    let lock = || -> MutexGuard<'_, State<R>> { state.lock().unwrap_or_else(PoisonError::into_inner) };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut local = Local::default();
                loop {
                    let index = {
                        let mut held = lock();
                        while held.next < jobs.len() && held.next >= held.delivered + threads * AHEAD {
                            held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                        }
                        let index = held.next;
                        held.next += 1;
                        index
                    };
                    let Some(job) = jobs.get(index) else { return };
                    let result = catch_unwind(AssertUnwindSafe(|| work(job, &mut local)));
                    lock().ready.insert(index, result);
                    changed.notify_all();
                }
            });
        }
        for (index, job) in jobs.iter().enumerate() {
            let result = {
                let mut held = lock();
                loop {
                    match held.ready.remove(&index) {
                        Some(result) => break result,
                        None => held = changed.wait(held).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            };
            let mut held = lock();
            held.delivered = index + 1;
            if result.is_err() {
                held.next = jobs.len();
            }
            drop(held);
            changed.notify_all();
            match result {
                Ok(result) => deliver(job, result),
                Err(panic) => resume_unwind(panic),
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_once() {
        for threads in [1, 2, 3, 16] {
            let jobs: Vec<u64> = (0..500).collect();
            let mut seen = Vec::new();
            let slow = |job: &u64, count: &mut u64| {
                *count += 1;
                // Later jobs are quicker, so that results would come out of order by themselves.
                (0..(500 - job) * 50).fold(*job, |sum, step| std::hint::black_box(sum ^ step ^ step))
            };
            for_each(&jobs, threads, slow, |_, job| seen.push(job));
            assert_eq!(seen, jobs, "{threads} threads");
        }
    }

    #[test]
    #[should_panic(expected = "job 40")]
    fn a_panic_in_a_job_is_a_panic_here() {
        let jobs: Vec<u32> = (0..100).collect();
        for_each(&jobs, 4, |job, _: &mut ()| assert!(*job != 40, "job {job}"), |_, ()| {});
    }

    #[test]
    fn no_jobs_no_results() {
        for_each(&[] as &[u8], 4, |_, _: &mut ()| (), |_, ()| panic!("nothing to deliver"));
    }
}
