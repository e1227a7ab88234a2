//! The published versions of the protocol, and the two eras they fall into.

use std::fmt;

/// A version of the specification, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// How a conversation is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Era {
    /// `initialize`, then a session.
    Legacy,
    /// No session: every request carries its own version and capabilities.
    Modern,
}

/// Which version the user wants spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The newest that the server speaks, found out by asking.
    #[default]
    Auto,
    Fixed(Version),
}

impl Version {
    pub const ALL: [Version; 5] = [
        Version::V2024_11_05,
        Version::V2025_03_26,
        Version::V2025_06_18,
        Version::V2025_11_25,
        Version::V2026_07_28,
    ];
    pub const LATEST: Version = Version::V2026_07_28;
    pub const LATEST_LEGACY: Version = Version::V2025_11_25;

    pub fn as_str(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(text: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.as_str() == text)
    }

    pub fn era(self) -> Era {
        if self >= Version::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl Era {
    pub fn as_str(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

impl Protocol {
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::Auto => "auto",
            Protocol::Fixed(version) => version.as_str(),
        }
    }

    /// `auto`, or one of the versions.
    pub fn parse(text: &str) -> Option<Protocol> {
        match text {
            "auto" => Some(Protocol::Auto),
            _ => Version::parse(text).map(Protocol::Fixed),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Era {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_reads_back_from_its_own_text() {
        for version in Version::ALL {
            assert_eq!(Version::parse(version.as_str()), Some(version));
            assert_eq!(Protocol::parse(version.as_str()), Some(Protocol::Fixed(version)));
        }
        assert_eq!(Version::parse("2025-11-26"), None);
    }

    #[test]
    fn only_the_newest_version_is_modern() {
        let modern: Vec<_> =
            Version::ALL.into_iter().filter(|version| version.era() == Era::Modern).collect();
        assert_eq!(modern, [Version::LATEST]);
        assert_eq!(Version::LATEST_LEGACY.era(), Era::Legacy);
    }
}
