//! What a keeper tells us, as 32 bytes: small enough that a pipe carries each report whole.
//! Written after a fork, so encoding neither allocates nor panics.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use crate::ending::{Ending, Status};

pub(crate) const REPORT_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The main process is there as `pid`, as the keeper sees it, about to execute the program. A bit is set for each
    /// layer of its jail that is no overlay.
    Forked { pid: u32, bound: u128 },
    /// The program was not executed. Comes from the keeper, or from the main process through a pipe of its own.
    Failed { stage: Stage, errno: i32 },
    /// The main process ended.
    Ended(Ending),
}

/// How far a start got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Becoming a keeper, forking, arranging the pipes.
    Setup,
    WorkingDirectory,
    Execute,
    /// Building the jail: the number of the step.
    Jail(u32),
    /// Giving up rights before the program is executed.
    Restrain,
    /// Being watched.
    Watch,
}

impl Report {
    pub(crate) fn encode(self) -> [u8; REPORT_BYTES] {
        let words: [i64; 4] = match self {
            Self::Forked { pid, bound } => [1, i64::from(pid), bound as i64, (bound >> 64) as i64],
            Self::Failed { stage, errno } => {
                let (stage, step) = match stage {
                    Stage::Setup => (0, 0),
                    Stage::WorkingDirectory => (1, 0),
                    Stage::Execute => (2, 0),
                    Stage::Jail(step) => (3, step),
                    Stage::Restrain => (4, 0),
                    Stage::Watch => (5, 0),
                };
                [2, stage, i64::from(errno), i64::from(step)]
            }
            Self::Ended(ending) => {
                let (kind, value) = match ending.status {
                    Status::Exited(code) => (3, code),
                    Status::Signalled { signal, core_dumped: false } => (4, signal),
                    Status::Signalled { signal, core_dumped: true } => (5, signal),
                    Status::Unknown => (6, 0),
                };
                // Zero stands for not known: no process that ran held no memory.
                let max_rss = ending.max_rss_bytes.unwrap_or(0) as i64;
                [kind, i64::from(value), ending.after.as_nanos() as i64, max_rss]
            }
        };
        let mut bytes = [0; REPORT_BYTES];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn decode(bytes: [u8; REPORT_BYTES]) -> Option<Self> {
        let mut words = [0_i64; 4];
        for (word, slot) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = i64::from_ne_bytes(slot.try_into().ok()?);
        }
        let [kind, value, third, fourth] = words;
        let number = i32::try_from(value).ok()?;
        let status = match kind {
            1 => {
                let bound = u128::from(third as u64) | u128::from(fourth as u64) << 64;
                return Some(Self::Forked { pid: u32::try_from(value).ok()?, bound });
            }
            2 => {
                let stage = match value {
                    0 => Stage::Setup,
                    1 => Stage::WorkingDirectory,
                    2 => Stage::Execute,
                    3 => Stage::Jail(u32::try_from(fourth).ok()?),
                    4 => Stage::Restrain,
                    _ => Stage::Watch,
                };
                return Some(Self::Failed { stage, errno: i32::try_from(third).ok()? });
            }
            3 => Status::Exited(number),
            4 => Status::Signalled { signal: number, core_dumped: false },
            5 => Status::Signalled { signal: number, core_dumped: true },
            6 => Status::Unknown,
            _ => return None,
        };
        let after = Duration::from_nanos(u64::try_from(third).ok()?);
        let max_rss_bytes = u64::try_from(fourth).ok().filter(|&bytes| bytes > 0);
        Some(Self::Ended(Ending { status, after, max_rss_bytes }))
    }

    /// The next report, or `None` when whoever writes them is gone.
    pub(crate) fn read(from: &mut File) -> io::Result<Option<Self>> {
        let mut bytes = [0; REPORT_BYTES];
        match from.read_exact(&mut bytes) {
            Ok(()) => Ok(Self::decode(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let ended = |status, max_rss_bytes| {
            Report::Ended(Ending { status, after: Duration::from_nanos(1_234_567_890), max_rss_bytes })
        };
        for report in [
            Report::Forked { pid: u32::try_from(i32::MAX).unwrap(), bound: u128::MAX },
            Report::Failed { stage: Stage::Jail(77), errno: 1 },
            Report::Failed { stage: Stage::Restrain, errno: 1 },
            Report::Failed { stage: Stage::Watch, errno: 1 },
            Report::Failed { stage: Stage::Setup, errno: 11 },
            Report::Failed { stage: Stage::WorkingDirectory, errno: 2 },
            Report::Failed { stage: Stage::Execute, errno: 8 },
            ended(Status::Exited(255), Some(1 << 40)),
            ended(Status::Signalled { signal: 11, core_dumped: true }, None),
            ended(Status::Signalled { signal: 64, core_dumped: false }, Some(1)),
            ended(Status::Unknown, None),
        ] {
            assert_eq!(Report::decode(report.encode()), Some(report));
        }
    }
}
