//! Reads from `/proc`, where everything may vanish while we look, what lives beneath a keeper.

use std::time::Duration;

/// A process that the main process started, directly or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descendant {
    pub pid: u32,
    /// The short name the kernel keeps.
    pub name: String,
    /// The arguments, separated by spaces and cut to a bound. May hold secrets; the process can change it at will.
    pub command_line: String,
}

/// What a tree holds at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    pub processes: usize,
    /// Resident memory of all processes; what they share is counted once for each.
    pub rss_bytes: u64,
    /// The most that the processes which are there have held so far, each at its own time.
    pub peak_bytes: u64,
    pub open_files: u64,
    /// Of all processes.
    pub threads: u64,
    /// Files that were made where those lie that nobody needs for long; counted by whoever knows the disk.
    pub temporary_files: u64,
    /// Processor time used so far, including that of processes that have ended.
    pub cpu: Duration,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{alive, children, descendants, describe, is_alive, queued, sample};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs::{self, File};
    use std::io::Read;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::{Descendant, Sample};

    /// More than any server needs; a fork bomb beyond it is ended all the same, it is just not listed in full.
    const MAX_PROCESSES: usize = 4096;

    /// Threads of one process that are looked at; a browser has some hundred.
    const MAX_THREADS: usize = 4096;

    /// So much of a command line is kept: enough to tell which program it is.
    const MAX_COMMAND_LINE: u64 = 512;

    /// Bounds the work for a process that holds very many files, on kernels that do not simply tell the number.
    const MAX_COUNTED_FILES: usize = 100_000;

    pub(crate) fn descendants(keeper: u32) -> Vec<Descendant> {
        alive(keeper).into_iter().map(describe).collect()
    }

    pub(crate) fn sample(keeper: u32) -> Option<Sample> {
        let mut sample = Sample::default();
        let mut ticks = stat(keeper).map_or(0, |stat| stat.reaped_ticks);
        for pid in alive(keeper) {
            let Some(stat) = stat(pid) else { continue };
            sample.processes += 1;
            sample.rss_bytes += rss_pages(pid) * system(libc::_SC_PAGESIZE);
            sample.peak_bytes += peak_kibibytes(pid) << 10;
            sample.open_files += open_files(pid);
            sample.threads += stat.threads;
            ticks += stat.own_ticks + stat.reaped_ticks;
        }
        let seconds = ticks as f64 / system(libc::_SC_CLK_TCK) as f64;
        sample.cpu = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        (sample.processes > 0).then_some(sample)
    }

    pub(crate) fn queued(keeper: u32) -> BTreeMap<u32, Duration> {
        let waited = |pid: u32| threads(pid).into_iter().filter_map(|thread| waited(&thread)).max();
        alive(keeper).into_iter().filter_map(|pid| Some((pid, waited(pid)?))).collect()
    }

    /// How long a thread was ready to run while no processor was free: the second figure of `schedstat`, in nanoseconds.
    fn waited(thread: &Path) -> Option<Duration> {
        let line = fs::read_to_string(thread.join("schedstat")).ok()?;
        line.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
    }

    /// All processes beneath the keeper that have not ended.
    pub(crate) fn alive(keeper: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut unvisited = vec![keeper];
        while let Some(pid) = unvisited.pop() {
            for child in children(pid) {
                // A pid seen twice was used anew meanwhile; following it again could go round for ever.
                if found.len() < MAX_PROCESSES && found.insert(child) {
                    unvisited.push(child);
                }
            }
        }
        found.retain(|&pid| is_alive(pid));
        found
    }

    pub(crate) fn is_alive(pid: u32) -> bool {
        stat(pid).is_some_and(|stat| !stat.ended)
    }

    /// Each thread has children of its own, and hands them to another thread when it ends: perhaps to one that was asked
    /// before. So where there are several threads all of them are asked twice.
    pub(crate) fn children(pid: u32) -> BTreeSet<u32> {
        let first = threads(pid);
        let mut found = children_of(&first);
        if first.len() > 1 {
            found.extend(children_of(&threads(pid)));
        }
        found
    }

    fn children_of(threads: &[PathBuf]) -> BTreeSet<u32> {
        let lists = threads.iter().filter_map(|thread| fs::read_to_string(thread.join("children")).ok());
        lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect()
    }

    fn threads(pid: u32) -> Vec<PathBuf> {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
        threads.take(MAX_THREADS).flatten().map(|thread| thread.path()).collect()
    }

    pub(crate) fn describe(pid: u32) -> Descendant {
        let line = head(&format!("/proc/{pid}/cmdline"));
        let words: Vec<_> = line
            .split(|&byte| byte == 0)
            .filter(|word| !word.is_empty())
            .map(String::from_utf8_lossy)
            .collect();
        let name = head(&format!("/proc/{pid}/comm"));
        let name = String::from_utf8_lossy(&name).trim_end().to_owned();
        Descendant { pid, name, command_line: words.join(" ") }
    }

    fn head(path: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A process that has just vanished has an empty description.
        let _ = File::open(path).and_then(|file| file.take(MAX_COMMAND_LINE).read_to_end(&mut bytes));
        bytes
    }

    struct Stat {
        ended: bool,
        own_ticks: u64,
        reaped_ticks: u64,
        threads: u64,
    }

    fn stat(pid: u32) -> Option<Stat> {
        parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The fields are counted from behind the name, which may itself hold spaces and brackets.
    fn parse_stat(line: &[u8]) -> Option<Stat> {
        let name_end = line.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(&line[name_end + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Stat {
            ended: matches!(*fields.first()?, "Z" | "X"),
            own_ticks: number(11)? + number(12)?,
            reaped_ticks: number(13)? + number(14)?,
            threads: number(17)?,
        })
    }

    /// From `statm`: new kernels add it up exactly there, while the figure in `stat` may be off by megabytes.
    fn rss_pages(pid: u32) -> u64 {
        let line = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        line.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
    }

    fn peak_kibibytes(pid: u32) -> u64 {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }

    fn open_files(pid: u32) -> u64 {
        let path = format!("/proc/{pid}/fd");
        // Since Linux 6.2 the size of this directory is the number of files; before, it is zero.
        match fs::metadata(&path).map(|directory| directory.len()) {
            Ok(0) => fs::read_dir(&path).map_or(0, |files| files.take(MAX_COUNTED_FILES).count() as u64),
            Ok(count) => count,
            Err(_) => 0,
        }
    }

    fn system(name: libc::c_int) -> u64 {
        // SAFETY: sysconf reads a constant of the system.
        let value = unsafe { libc::sysconf(name) };
        u64::try_from(value).unwrap_or(1).max(1)
    }

    #[cfg(test)]
    mod tests {
        use std::process::{Command, Stdio};
        use std::sync::mpsc;

        use super::*;

        #[test]
        fn a_child_is_seen_while_the_thread_that_started_it_ends() {
            const ROUNDS: usize = 500;
            for round in 0..ROUNDS {
                let (tell, told) = mpsc::channel();
                let (leave, left) = mpsc::channel::<()>();
                let starter = std::thread::spawn(move || {
                    // Ends with its input, which is ours.
                    let child = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
                    tell.send(child.unwrap()).unwrap();
                    left.recv().unwrap_err();
                });
                let mut child = told.recv().unwrap();
                drop(leave);
                let seen = children(std::process::id()).contains(&child.id());
                drop(child.stdin.take());
                child.wait().unwrap();
                starter.join().unwrap();
                assert!(seen, "in round {round}");
            }
        }

        #[test]
        fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
            let line = b"7 (a) Z (b) c) S 1 7 7 0 -1 0 1 2 3 4 50 6 700 8 20 0 1 0 99 1000 42 0 0";
            let stat = parse_stat(line).unwrap();
            assert!(!stat.ended);
            assert_eq!((stat.own_ticks, stat.reaped_ticks), (56, 708));
        }

        #[test]
        fn a_cut_line_is_no_stat() {
            assert!(parse_stat(b"7 (a) S 1 7").is_none());
            assert!(parse_stat(b"").is_none());
        }
    }
}
