//! Gives back the memory that the keeper inherited from us and does not need. Runs after a fork: no allocation, no locks.
//!
//! Without this each keeper would hold on to our memory as it was at the fork, and each page that we go on to write would
//! have to be copied first.

use std::os::fd::RawFd;

/// Smaller mappings are not worth a call; and the C library's own data, which the keeper does need, is among them.
const MIN_BYTES: usize = 1 << 20;

/// Addresses, permissions and the first letters of the name stand within this; the rest of a line is passed over.
const LINE_BYTES: usize = 128;

/// Empties all large private anonymous mappings, except those that hold one of the addresses in `needed`.
///
/// # Safety
/// After this, nothing that was allocated before the fork may be used.
pub(super) unsafe fn shed(needed: &[usize]) {
    // SAFETY: the path is a C string.
    let maps = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if maps < 0 {
        return;
    }
    let mut file_ended_at = 0;
    each_line(maps, |line| {
        let Some(mapping) = Mapping::parse(line) else { return };
        // What directly follows the data of a program or library is the rest of that data.
        if mapping.is_spare(needed) && mapping.start != file_ended_at {
            // SAFETY: the range is one mapping of ours, and the caller says that nobody needs its content.
            unsafe {
                libc::madvise(mapping.start as *mut _, mapping.end - mapping.start, libc::MADV_DONTNEED)
            };
        }
        if mapping.is_file {
            file_ended_at = mapping.end;
        }
    });
    // SAFETY: the descriptor is ours.
    unsafe { libc::close(maps) };
}

/// Calls `visit` with the beginning of each line.
fn each_line(file: RawFd, mut visit: impl FnMut(&[u8])) {
    let mut line = [0_u8; LINE_BYTES];
    let mut length = 0;
    let mut buffer = [0_u8; 4096];
    loop {
        // SAFETY: the buffer is as long as the length says.
        let count = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Ok(count @ 1..) = usize::try_from(count) else { return };
        for &byte in buffer.iter().take(count) {
            if byte == b'\n' {
                visit(line.get(..length).unwrap_or_default());
                length = 0;
            } else if let Some(slot) = line.get_mut(length) {
                *slot = byte;
                length += 1;
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    is_private_data: bool,
    is_file: bool,
    /// Memory from an allocator: without a name, or with the name that such memory has.
    is_anonymous: bool,
}

impl Mapping {
    /// A line is `start-end permissions offset device inode name`.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let mut range = words.next()?.split(|&byte| byte == b'-');
        let (start, end) = (hexadecimal(range.next()?)?, hexadecimal(range.next()?)?);
        let is_private_data = words.next()? == b"rw-p";
        let is_file = words.nth(2)? != b"0";
        let name = words.next().unwrap_or_default();
        let is_anonymous = !is_file && (name.is_empty() || name == b"[heap]" || name.starts_with(b"[anon"));
        Some(Self { start, end, is_private_data, is_file, is_anonymous })
    }

    fn is_spare(&self, needed: &[usize]) -> bool {
        self.is_private_data
            && self.is_anonymous
            && self.end.saturating_sub(self.start) >= MIN_BYTES
            && !needed.iter().any(|address| (self.start..self.end).contains(address))
    }
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0_usize, |number, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(number.checked_mul(16)?.wrapping_add(digit as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_spare(line: &str) -> bool {
        Mapping::parse(line.as_bytes()).unwrap().is_spare(&[0x7000_0000_1000])
    }

    #[test]
    fn only_large_private_memory_of_an_allocator_is_spare() {
        assert!(is_spare("55d000000000-55d000200000 rw-p 00000000 00:00 0      [heap]"));
        assert!(is_spare("7f0000000000-7f0000200000 rw-p 00000000 00:00 0 "));
        assert!(is_spare("7f0000000000-7f0000200000 rw-p 00000000 00:00 0    [anon: glibc: malloc]"));
        assert!(!is_spare("7f0000000000-7f0000001000 rw-p 00000000 00:00 0 "), "small");
        assert!(!is_spare("700000000000-700000200000 rw-p 00000000 00:00 0 "), "needed");
        assert!(!is_spare("7f0000000000-7f0000200000 rw-s 00000000 00:00 0 "), "shared");
        assert!(!is_spare("7f0000000000-7f0000200000 r--p 00000000 00:00 0 "), "not written to");
        assert!(!is_spare("7f0000000000-7f0000200000 rw-p 00000000 fe:00 77   /usr/lib/x.so"), "a file");
        assert!(!is_spare("7ffe00000000-7ffe00200000 rw-p 00000000 00:00 0    [stack]"), "a stack");
    }

    #[test]
    fn what_is_no_line_of_maps_is_no_mapping() {
        for line in
            ["", "7f00", "7f00-xyz rw-p 0 00:00 0", "7f00-8f00 rw-p", "fffffffffffffffff-0 rw-p 0 00:00 0"]
        {
            assert_eq!(Mapping::parse(line.as_bytes()), None, "{line}");
        }
    }
}
