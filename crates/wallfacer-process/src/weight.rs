//! How much memory does a tree hold? Also what no process has mapped: files that exist in memory alone, which
//! `memfd_create` makes, and System V shared memory.
//!
//! Each weighing looks at every process and every open file of the tree, which takes some hundred microseconds. Only when
//! that is too much, or the whole machine holds more shared memory than before by what the tree may have, the mappings
//! are read too: to see what is counted twice, and what is hidden.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};

/// Open files that are looked at in one weighing, over all processes.
const MAX_FILES: usize = 50_000;

/// Of the list of a process's mappings: a server has some thousand of them.
const MAX_MAPPINGS_BYTES: u64 = 16 << 20;

/// Of the list of System V memory, which has at most 4,096 lines on most machines.
const MAX_LIST_BYTES: usize = 1 << 20;

/// What `stat` counts a file's size in.
const BLOCK: u64 = 512;

#[derive(Debug)]
pub(crate) struct Scales {
    /// What the tree may hold.
    most: u64,
    /// The kernel's list of the System V memory of the tree's own namespace.
    system_v: Option<File>,
    /// The device that files without a file system lie on.
    device: Option<u64>,
    /// The least shared memory that the whole machine held since the tree began: what others give back meanwhile must not
    /// hide what the tree takes.
    least: AtomicU64,
}

/// Files in memory, by their number, and how large each is.
type Sizes = BTreeMap<u64, u64>;

impl Scales {
    pub(crate) fn new(most: u64, system_v: Option<File>) -> Self {
        Self { most, system_v, device: device(), least: shared_by_all().into() }
    }

    pub(crate) fn is_too_much(&self, processes: impl IntoIterator<Item = u32>) -> bool {
        let processes: Vec<u32> = processes.into_iter().collect();
        let resident: u64 = processes.iter().map(|&pid| resident(pid)).sum();
        let mut left = MAX_FILES;
        let mut files = Sizes::new();
        for &pid in &processes {
            self.open_files(pid, &mut left, &mut files);
        }
        let system_v = self.system_v();
        let held = resident + files.values().sum::<u64>() + system_v.values().sum::<u64>();
        let shared = shared_by_all();
        let grown = shared.saturating_sub(self.least.fetch_min(shared, Ordering::Relaxed));
        if held <= self.most && grown <= self.most {
            return false;
        }
        let mut mapped = Mapped::default();
        processes.iter().for_each(|&pid| mapped.add(pid, self.device.unwrap_or(0)));
        let twice = |sizes: &Sizes, seen: &Sizes| -> u64 {
            sizes.iter().map(|(number, &size)| size.min(seen.get(number).copied().unwrap_or(0))).sum()
        };
        let held = held - twice(&files, &mapped.resident) - twice(&system_v, &mapped.system_v);
        let is_hidden =
            mapped.resident.keys().any(|number| !files.contains_key(number)) || in_flight(&processes);
        held > self.most || grown > self.most && is_hidden
    }

    fn open_files(&self, pid: u32, left: &mut usize, files: &mut Sizes) {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return };
        for entry in entries.flatten() {
            if *left == 0 {
                return;
            }
            *left -= 1;
            let found = fs::metadata(entry.path());
            if let Some(found) = found.ok().filter(|found| Some(found.dev()) == self.device) {
                files.insert(found.ino(), found.blocks() * BLOCK);
            }
        }
    }

    /// By their identifiers.
    fn system_v(&self) -> Sizes {
        let Some(list) = &self.system_v else { return Sizes::new() };
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        while bytes.len() < MAX_LIST_BYTES
            && let Ok(count @ 1..) = list.read_at(&mut piece, bytes.len() as u64)
        {
            bytes.extend_from_slice(&piece[..count]);
        }
        String::from_utf8_lossy(&bytes).lines().skip(1).filter_map(segment).collect()
    }
}

/// `key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap`
fn segment(line: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    Some((number(1)?, number(14)? + number(15)?))
}

/// What of the files in memory is mapped, and resident with some process.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mapped {
    resident: Sizes,
    system_v: Sizes,
}

impl Mapped {
    fn add(&mut self, pid: u32, device: u64) {
        let mut list = Vec::new();
        // A process that is gone has nothing mapped.
        let _ = File::open(format!("/proc/{pid}/smaps"))
            .and_then(|file| file.take(MAX_MAPPINGS_BYTES).read_to_end(&mut list));
        let mut of_process = Self::default();
        of_process.read(&String::from_utf8_lossy(&list), device);
        for (all, own) in
            [(&mut self.resident, of_process.resident), (&mut self.system_v, of_process.system_v)]
        {
            for (number, size) in own {
                let most = all.entry(number).or_default();
                *most = size.max(*most);
            }
        }
    }

    /// A mapping is a line `start-end permissions offset device inode name`, and lines of what is known of it.
    fn read(&mut self, list: &str, device: u64) {
        let (mut current, mut is_segment) = (None, false);
        for line in list.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [range, _, _, on, number, name @ ..] if range.contains('-') => {
                    let name = name.first().copied().unwrap_or_default();
                    is_segment = name.starts_with("/SYSV");
                    // What processes share without a name is kept even while nobody has it in its tables.
                    let is_ours = name.starts_with("/memfd:") || name.starts_with("/dev/zero");
                    let is_file = is_ours && parse_device(on) == Some(device);
                    current = number.parse::<u64>().ok().filter(|_| is_segment || is_file);
                }
                ["Rss:", size, ..] => {
                    let sizes = if is_segment { &mut self.system_v } else { &mut self.resident };
                    if let Some((number, size)) = current.zip(size.parse::<u64>().ok()) {
                        *sizes.entry(number).or_default() += size << 10;
                    }
                }
                _ => {}
            }
        }
    }
}

fn parse_device(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    let part = |text| u32::from_str_radix(text, 16).ok();
    Some(libc::makedev(part(major)?, part(minor)?))
}

/// Whether files are on their way through a socket, where nobody sees how large they are.
fn in_flight(processes: &[u32]) -> bool {
    let mut left = MAX_FILES;
    processes.iter().any(|pid| {
        let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| {
            left = left.saturating_sub(1);
            left > 0
                && fs::read_to_string(entry.path()).is_ok_and(|known| {
                    known
                        .lines()
                        .any(|line| line.strip_prefix("scm_fds:").is_some_and(|count| count.trim() != "0"))
                })
        })
    })
}

fn resident(pid: u32) -> u64 {
    let line = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = line.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    // SAFETY: sysconf reads a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages * u64::try_from(page).unwrap_or(4096)
}

fn shared_by_all() -> u64 {
    let known = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = known.lines().find_map(|line| line.strip_prefix("Shmem:"));
    let size = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    size.unwrap_or(0) << 10
}

fn device() -> Option<u64> {
    const NAME: &CStr = c"probe";
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the name is a C string; the descriptor is ours; the structure is read only if it was filled in.
    unsafe {
        let made = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        let made = (made >= 0).then(|| OwnedFd::from_raw_fd(made))?;
        (libc::fstat(made.as_raw_fd(), found.as_mut_ptr()) == 0).then(|| found.assume_init().st_dev)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_files_in_memory_are_told_from_all_others() {
        let list = "7f0000000000-7f0000200000 rw-s 00000000 00:01 77   /memfd:x (deleted)\nSize: 2048 kB\nRss: 12 kB\n\
            7f0000200000-7f0000400000 rw-s 00000000 00:01 77   /memfd:x (deleted)\nRss: 4 kB\n\
            7f0000400000-7f0000600000 rw-s 00000000 00:01 5    /SYSV00000000 (deleted)\nRss: 8 kB\n\
            7f0000600000-7f0000800000 rw-s 00000000 fe:00 77   /memfd:disk\nRss: 64 kB\n\
            55d000000000-55d000200000 rw-p 00000000 00:00 0    [heap]\nRss: 32 kB\n";
        let mut mapped = Mapped::default();
        mapped.read(list, libc::makedev(0, 1));
        assert_eq!(mapped, Mapped { resident: [(77, 16 << 10)].into(), system_v: [(5, 8 << 10)].into() });
    }

    #[test]
    fn a_segment_is_what_is_resident_and_what_is_swapped() {
        let line = "         0          5  1600           4096  7  7  0  0  0  0  0  0  0  9  8192  4096";
        assert_eq!(segment(line), Some((5, 12288)));
        assert_eq!(segment("key shmid"), None);
    }
}
