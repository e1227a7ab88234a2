//! The protocol versions, and the date by which each is named on the wire.

/// The published protocol versions, oldest first, so that "since 2025-06-18" is a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    November2024,
    March2025,
    June2025,
    November2025,
    July2026,
}

impl Version {
    pub const LATEST_LEGACY: Version = Version::November2025;
    pub const MODERN: Version = Version::July2026;

    pub fn as_str(self) -> &'static str {
        match self {
            Version::November2024 => "2024-11-05",
            Version::March2025 => "2025-03-26",
            Version::June2025 => "2025-06-18",
            Version::November2025 => "2025-11-25",
            Version::July2026 => "2026-07-28",
        }
    }

    /// Only the versions that begin with `initialize`.
    pub fn legacy(text: &str) -> Option<Version> {
        [Version::November2024, Version::March2025, Version::June2025, Version::November2025]
            .into_iter()
            .find(|version| version.as_str() == text)
    }

    pub fn is_modern(self) -> bool {
        self == Version::MODERN
    }

    /// Batches belong to the first two versions; later ones took them away.
    pub fn has_batches(self) -> bool {
        self <= Version::March2025
    }
}
