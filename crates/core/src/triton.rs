//! The metadata that Triton writes beside each compiled kernel, `name.json`: the launch that its runtime makes.
//!
//! Not for: what the binary itself fixes. A block that the binary requires wins; the dynamic shared memory is the
//! runtime's to choose and wins over what the binary suggests.

use serde::Deserialize;

/// Threads of a warp on NVIDIA GPUs.
const WARP: u32 = 32;

/// What the runtime launches a kernel with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Kernel name.
    pub(crate) name: Option<String>,
    /// Threads per block.
    pub(crate) block: Option<u32>,
    /// Dynamic shared memory in bytes.
    pub(crate) shared: Option<u32>,
    /// Blocks of a cluster, 1 for none.
    pub(crate) cluster: Option<u32>,
    /// Tensor-memory columns.
    pub(crate) tensor_columns: Option<u32>,
    /// Stages of the pipeline.
    pub(crate) stages: Option<u32>,
}

#[derive(Deserialize)]
struct Json {
    name: Option<String>,
    num_warps: Option<u32>,
    shared: Option<u32>,
    num_ctas: Option<u32>,
    cluster_dims: Option<Vec<u32>>,
    tmem_size: Option<u32>,
    num_stages: Option<u32>,
}

impl Metadata {
    /// Reads the file; `None` where it is something else.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let json: Json = serde_json::from_slice(bytes).ok()?;
        json.num_warps?;
        let dimensions = json.cluster_dims.filter(|dimensions| !dimensions.is_empty());
        let cluster = dimensions.and_then(|dimensions| dimensions.into_iter().try_fold(1_u32, u32::checked_mul));
        Some(Self {
            name: json.name,
            block: json.num_warps.and_then(|warps| warps.checked_mul(WARP)),
            shared: json.shared,
            cluster: cluster.max(json.num_ctas),
            tensor_columns: json.tmem_size.filter(|columns| *columns > 0),
            stages: json.num_stages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_is_read() {
        let json = br#"{"target":{"backend":"cuda","arch":100,"warp_size":32},"num_warps":8,"num_ctas":1,
            "cluster_dims":[2,1,1],"shared":32768,"tmem_size":128,"name":"mm","num_stages":3}"#;
        let metadata = Metadata::parse(json).unwrap();
        assert_eq!((metadata.block, metadata.shared), (Some(256), Some(32768)));
        assert_eq!((metadata.cluster, metadata.tensor_columns), (Some(2), Some(128)));
        assert_eq!(metadata.stages, Some(3));
        assert!(
            Metadata::parse(b"{}").is_none() && Metadata::parse(b"[1]").is_none() && Metadata::parse(b"").is_none()
        );
    }
}
