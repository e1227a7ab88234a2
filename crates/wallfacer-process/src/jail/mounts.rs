//! What is mounted where, as the kernel tells it.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mounts(Vec<PathBuf>);

impl Mounts {
    pub(crate) fn read() -> io::Result<Self> {
        Ok(Self::parse(&std::fs::read("/proc/self/mountinfo")?))
    }

    fn parse(list: &[u8]) -> Self {
        let points = list
            .split(|&byte| byte == b'\n')
            .filter_map(|line| line.split(|&byte| byte == b' ').nth(4))
            .map(|point| PathBuf::from(unescape(point)));
        Self(points.collect())
    }

    /// Whether something is mounted below a directory. No overlay of such a directory can be made without the
    /// administrator's rights: it would show what the mount hides.
    pub(crate) fn below(&self, directory: &Path) -> bool {
        self.0.iter().any(|point| point != directory && point.starts_with(directory))
    }
}

/// Spaces and the like stand as a backslash and three octal digits.
fn unescape(text: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| first == b'\\');
        match digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_below_what_it_lies_in_and_not_below_itself_or_its_namesakes() {
        let mounts = Mounts::parse(
            b"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:3 / /mnt/a\\040b rw shared:1 - tmpfs t rw\n3 1 0:4 / /home rw - x y z\n",
        );
        assert!(mounts.below(Path::new("/")));
        assert!(mounts.below(Path::new("/mnt")));
        assert!(!mounts.below(Path::new("/mnt/a b")));
        assert!(!mounts.below(Path::new("/mn")));
        assert!(!mounts.below(Path::new("/home")));
        assert_eq!(mounts.0[1], Path::new("/mnt/a b"));
    }
}
