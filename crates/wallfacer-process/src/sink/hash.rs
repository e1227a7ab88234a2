//! Hashes bytes with a seed, the same on every machine, so that a run can be repeated.

/// FNV-1a, then the finish of splitmix64, for FNV alone leaves similar inputs similar.
pub(super) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let folded = bytes.iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, |folded, byte| {
        (folded ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (folded ^ (folded >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
