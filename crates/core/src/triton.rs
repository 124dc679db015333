//! The metadata that Triton writes beside each compiled kernel, `name.json`: the launch that its runtime makes.
//!
//! Not for: what the binary itself fixes. A block that the binary requires wins; the dynamic shared memory is the
//! runtime's to choose and wins over what the binary suggests.

use occupant_binary::LARGEST_COMPANION;
use serde::Deserialize;

/// Threads of a warp on NVIDIA GPUs.
const WARP: u32 = 32;

/// What the runtime launches a kernel with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Kernel name.
    pub(crate) name: Option<String>,
    /// Threads per block.
    pub(crate) block: u32,
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
    /// Reads the file; `None` where it is of something else, an error where it is Triton's and makes no sense.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        if bytes.len() as u64 > LARGEST_COMPANION {
            return Err(format!("it has more than {LARGEST_COMPANION} bytes"));
        }
        let value: serde_json::Value = match serde_json::from_slice(bytes) {
            Ok(value) => value,
            Err(error) => return Err(error.to_string()),
        };
        if value.get("num_warps").is_none() {
            return Ok(None);
        }
        let json: Json = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let block = json.num_warps.and_then(|warps| warps.checked_mul(WARP)).filter(|block| *block > 0);
        let block = block.ok_or_else(|| "num_warps makes no block".to_owned())?;
        let dimensions = json.cluster_dims.filter(|dimensions| !dimensions.is_empty());
        let cluster = dimensions.and_then(|dimensions| dimensions.into_iter().try_fold(1_u32, u32::checked_mul));
        Ok(Some(Self {
            name: json.name,
            block,
            shared: json.shared,
            cluster: cluster.max(json.num_ctas),
            tensor_columns: json.tmem_size.filter(|columns| *columns > 0),
            stages: json.num_stages,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_is_read() {
        let json = br#"{"target":{"backend":"cuda","arch":100,"warp_size":32},"num_warps":8,"num_ctas":1,
            "cluster_dims":[2,1,1],"shared":32768,"tmem_size":128,"name":"mm","num_stages":3}"#;
        let metadata = Metadata::parse(json).unwrap().unwrap();
        assert_eq!((metadata.block, metadata.shared), (256, Some(32768)));
        assert_eq!((metadata.cluster, metadata.tensor_columns), (Some(2), Some(128)));
        assert_eq!(metadata.stages, Some(3));
        assert_eq!((Metadata::parse(b"{}"), Metadata::parse(b"[1]")), (Ok(None), Ok(None)));
        let wrong: [&[u8]; 4] = [b"", b"{", br#"{"num_warps":0}"#, br#"{"num_warps":4,"shared":"x"}"#];
        assert!(wrong.iter().all(|json| Metadata::parse(json).is_err()));
        let most = LARGEST_COMPANION as usize;
        let padded = |length| [json.as_slice(), &vec![b' '; length - json.len()]].concat();
        assert!(Metadata::parse(&padded(most)).is_ok_and(|read| read.is_some()));
        assert_eq!(Metadata::parse(&padded(most + 1)), Err("it has more than 4194304 bytes".to_owned()));
    }
}
