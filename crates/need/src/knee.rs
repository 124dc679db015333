//! The knee: throughput against resident warps. One warp alone takes `cycles`; it needs `demand` cycles of the busiest
//! resources of an SM. Few warps: each adds `1 / cycles`. Many: the resources are full. Between them real memory systems
//! bend softly. Not for: where the two numbers come from.

/// Throughput as a function of resident warps: `(1 + (knee / n)^p)^(-1/p)` of the ceiling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Warps at which the straight line through the origin meets the ceiling.
    pub warps: f64,
    /// Exponent: higher is sharper.
    pub sharpness: f64,
}

impl Knee {
    /// The knee of a warp of `cycles` that needs `demand` cycles of an SM.
    #[must_use]
    pub fn new(cycles: f64, demand: f64, sharpness: f64) -> Self {
        Self { warps: cycles / demand, sharpness }
    }

    /// Share of the ceiling that `warps` resident warps reach, 0 to 1.
    #[must_use]
    pub fn share(&self, warps: f64) -> f64 {
        if warps <= 0.0 {
            return 0.0;
        }
        (1.0 + (self.warps / warps).powf(self.sharpness)).powf(-1.0 / self.sharpness)
    }

    /// Warps that reach a share of the ceiling; `share` above 0 and below 1.
    #[must_use]
    pub fn needed(&self, share: f64) -> f64 {
        self.warps * (share.powf(-self.sharpness) - 1.0).powf(-1.0 / self.sharpness)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn multipliers_of_a_cubic_knee() {
        let knee = Knee::new(700.0, 70.0, 3.0);
        let times = |share: f64| (knee.needed(share) / knee.warps * 100.0).round() / 100.0;
        assert_eq!([0.8, 0.9, 0.95, 0.99].map(times), [1.02, 1.39, 1.82, 3.2]);
    }

    proptest! {
        #[test]
        fn needed_inverts_share(warps in 0.1..200.0_f64, sharpness in 1.5..9.0_f64, share in 0.05..0.99_f64) {
            let knee = Knee { warps, sharpness };
            let needed = knee.needed(share);
            prop_assert!((knee.share(needed) - share).abs() < 1e-9);
            prop_assert!(knee.share(needed * 1.1) > share && knee.share(needed * 0.9) < share);
        }
    }
}
