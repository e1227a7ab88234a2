//! What happens to a server in the middle of its work, as far as it is done on the connection at hand.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until};
use wallfacer_process::jail::DiskTrouble;
use wallfacer_process::sink::Fault as Broken;
use wallfacer_process::{Process, Sample};

use super::aftermath::{Aftermath, Progress};
use super::call::{Call, answer, execute};
use super::held_up::HeldUp;
use super::life::Life;
use super::patience::Patience;
use super::recording::{Mark, Taken};
use super::together::execute_unread;
use crate::plan::{Disk, Disturbance, Request, Trouble};
use crate::wire::{Conduct, Connection, Correlation, Direction, Fault, Happening, Outcome, Strays, Stream};
use crate::world::files_holding;

/// SIGKILL, by its number on every system.
const KILL: i32 = 9;
/// What is told to leave has at least as long as clients give it.
pub const LEAVING: Duration = Duration::from_secs(5);
/// How often it is looked who is still there.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// An answer that comes sooner than this after its call was taken back may have been on its way.
const ON_ITS_WAY: Duration = Duration::from_millis(500);
/// A stored case cannot keep us longer than this with one of these steps.
const MAX_WAIT: Duration = Duration::from_secs(20);
const MAX_TIMES: u32 = 2_000;
/// How long it is seen whether a call that was answered goes on telling its progress.
const AFTER_ANSWER: Duration = Duration::from_millis(1_000);
/// Notifications that are looked at of one call.
const MAX_PROGRESS: usize = 256;
/// How long a call that was taken back is watched.
const WATCHED: Duration = Duration::from_millis(2_500);

impl Life {
    /// What comes of a disturbance that takes no other server.
    pub async fn disturb(&mut self, disturbance: &Disturbance, patience: &Patience) -> Taken {
        match disturbance {
            Disturbance::Begin { micros, request } => {
                self.begin(request, Duration::from_micros(*micros)).await
            }
            Disturbance::Cancel { after_ms, request } => {
                self.take_back(request, Duration::from_millis(*after_ms)).await
            }
            Disturbance::Unread { times, ms, request } => {
                let timeout = patience.for_request(&request.method, &request.params);
                let call = self.call(request, timeout);
                let calls = vec![call; (*times).clamp(1, MAX_TIMES) as usize];
                execute_unread(&mut self.connection, &calls, Duration::from_millis(*ms).min(MAX_WAIT)).await
            }
            Disturbance::HangUp { after_ms, request } => {
                self.hang_up(request, Duration::from_millis(*after_ms)).await
            }
            Disturbance::Drop { request } => {
                if !self.connection.behave(Conduct::Drops) {
                    return said("dropped connection", Some("there is no connection to drop".to_owned()));
                }
                let call = self.call(request, patience.for_request(&request.method, &request.params));
                let taken = execute(&mut self.connection, &call).await;
                match taken.outcome {
                    // It was we who broke it.
                    Some(Outcome::Broken { .. }) => {
                        let aftermath = Some(Box::new(Aftermath { unanswered: 1, ..Aftermath::default() }));
                        Taken { aftermath, ..Taken::unanswered("dropped connection", taken.took) }
                    }
                    _ => taken,
                }
            }
            Disturbance::Progress { request } => self.watch_progress(request, patience).await,
            Disturbance::KillLauncher => self.kill_launcher().await,
            Disturbance::Services(trouble) => self.trouble_services(*trouble),
            Disturbance::Disk(disk) => self.trouble_disk(disk),
            // The runner does these, for they take another server.
            Disturbance::Restart { .. }
            | Disturbance::Beside
            | Disturbance::BesideAsks { .. }
            | Disturbance::Stale { .. }
            | Disturbance::Ended { .. }
            | Disturbance::Sessions { .. }
            | Disturbance::SlowBody { .. }
            | Disturbance::Reuse { .. }
            | Disturbance::Elsewhere { .. }
            | Disturbance::Nameless { .. }
            | Disturbance::Foreign { .. } => Taken::unanswered("nothing", Duration::ZERO),
        }
    }

    /// All services are as they were in the beginning.
    pub fn calm(&self) {
        if let Some(sink) = self.connection.vigil().sink() {
            sink.set_fault(None);
        }
    }

    fn call(&self, request: &Request, timeout: Duration) -> Call {
        let params = self.filled(&request.params).into_owned();
        Call { method: request.method.clone(), params, timeout }
    }

    async fn begin(&mut self, request: &Request, wait: Duration) -> Taken {
        let started = Instant::now();
        let params = self.filled(&request.params).into_owned();
        let ticket = self.connection.request(&request.method, Some(&params));
        let deadline = started + wait.min(MAX_WAIT);
        let happening = self.connection.wait_for(ticket, deadline).await;
        if let Happening::Closed(closed) = happening {
            let taken = Taken::unanswered(&request.method, started.elapsed());
            return Taken { closed: Some(closed), ..taken };
        }
        Taken::unanswered(&request.method, started.elapsed())
    }

    /// Takes a call back that is under way, and sees what goes on.
    async fn take_back(&mut self, request: &Request, after: Duration) -> Taken {
        let _earlier = self.connection.take_strays();
        let mark = Mark::now(&self.connection);
        let started = Instant::now();
        let before = self.sample();
        let params = self.filled(&request.params).into_owned();
        let ticket = self.connection.request(&request.method, Some(&params));
        let happening = self.connection.wait_for(ticket, started + after.min(MAX_WAIT)).await;
        if !matches!(happening, Happening::Deadline) {
            // It was quicker than that: there is nothing to take back.
            return Taken::awaited(&request.method, happening, started.elapsed());
        }
        self.connection.cancel(ticket);
        let cancelled = Instant::now();
        let mut aftermath = Aftermath::default();
        let mut strays = Strays::default();
        let (mut first, mut closed) = (None, None);
        let watch = cancelled + ON_ITS_WAY + WATCHED.max(after * 2).min(MAX_WAIT);
        while Instant::now() < watch && closed.is_none() {
            let soon = (Instant::now() + LOOK_EVERY).min(watch);
            if let Happening::Closed(gone) = self.connection.next(soon).await {
                closed = Some(gone);
            }
            let came = self.connection.take_strays();
            if came.counts.contains_key(&Fault::LateReply) && aftermath.answered_after.is_none() {
                aftermath.answered_after = Some(cancelled.elapsed());
            }
            strays.add_all(came);
            if first.is_none() && cancelled.elapsed() >= ON_ITS_WAY {
                let held = HeldUp::since_now(self.connection.process());
                first = self.sample().map(|sample| (Instant::now(), sample, held));
            }
            // What is done has nothing more to show.
            if aftermath.answered_after.is_some() && first.is_some() {
                break;
            }
        }
        if let (Some((since, first, mut held)), Some(last)) = (first, self.sample()) {
            // Who waits for a processor would be at work.
            held.look(self.connection.process());
            let worked = last.cpu.saturating_sub(first.cpu) + held.time();
            aftermath.worked = Some((worked, since.elapsed()));
            aftermath.still_running =
                last.processes.saturating_sub(before.map_or(last.processes, |before| before.processes));
        }
        // That an answer is late is the point here.
        strays.counts.remove(&Fault::LateReply);
        strays.examples.retain(|stray| !stray.faults.has(Fault::LateReply));
        let notices = mark.notices(&self.connection);
        let taken = Taken::unanswered("cancelled call", started.elapsed());
        Taken { closed, strays, notices, aftermath: Some(Box::new(aftermath)), ..taken }
    }

    /// Makes a call that is given a token to tell its progress by.
    async fn watch_progress(&mut self, request: &Request, patience: &Patience) -> Taken {
        let mark = Mark::now(&self.connection);
        let before = self.connection.frames().total();
        let started = Instant::now();
        let token = self.connection.next_id();
        let mut params = self.filled(&request.params).into_owned();
        let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert("progressToken".to_owned(), Value::from(token));
        }
        let limit = patience.for_request(&request.method, &request.params);
        let ticket = self.connection.request(&request.method, Some(&params));
        let (happening, kept_waiting) = answer(&mut self.connection, ticket, limit).await;
        let took = started.elapsed();
        let answered = self.connection.frames().total();
        match happening {
            Happening::Deadline => self.connection.cancel(ticket),
            Happening::Closed(_) => {}
            // What still comes is told by nobody's request.
            Happening::Answered(_) => drop(self.connection.next(Instant::now() + AFTER_ANSWER).await),
        }
        let progress = progress(&self.connection, token, before, answered);
        let taken = Taken { kept_waiting, ..Taken::awaited(&request.method, happening, took) };
        let aftermath = Some(Box::new(Aftermath { progress, ..Aftermath::default() }));
        Taken { aftermath, ..taken.with_company(&mut self.connection, mark) }
    }

    async fn hang_up(&mut self, request: &Request, after: Duration) -> Taken {
        let started = Instant::now();
        let params = self.filled(&request.params).into_owned();
        let ticket = self.connection.request(&request.method, Some(&params));
        let happening = self.connection.wait_for(ticket, started + after.min(MAX_WAIT)).await;
        self.connection.hang_up(ticket);
        let closed = match happening {
            Happening::Closed(closed) => Some(closed),
            Happening::Answered(_) | Happening::Deadline => None,
        };
        Taken { closed, ..Taken::unanswered("call that is hung up on", started.elapsed()) }
    }

    /// Kills what was started, and sees whether what that had started goes too.
    async fn kill_launcher(&mut self) -> Taken {
        let started = Instant::now();
        let launched = self.connection.process().is_some_and(is_launcher);
        let sent = self.connection.process().filter(|_| launched).map(|process| process.signal(KILL));
        if sent.is_none_or(|sent| sent.is_err()) {
            return Taken::unanswered("kill launcher", Duration::ZERO);
        }
        self.connection.close_input();
        let closed = match self.connection.next(started + LEAVING).await {
            Happening::Closed(closed) => Some(closed),
            Happening::Answered(_) | Happening::Deadline => None,
        };
        let taken = Taken { closed, ..Taken::unanswered("kill launcher", started.elapsed()) };
        self.look_who_is_left(taken, started + LEAVING).await
    }

    /// Waits until nobody of the server's processes is there, and says who is at the deadline.
    pub(super) async fn look_who_is_left(&mut self, taken: Taken, deadline: Instant) -> Taken {
        // A client that has ended its server has nothing more to say to what that has started.
        self.connection.close_input();
        self.connection.write_only(Instant::now()).await;
        let Some(process) = self.connection.process() else { return taken };
        loop {
            let left = process.descendants().unwrap_or_default();
            if left.is_empty() {
                return taken;
            }
            let now = Instant::now();
            if now >= deadline {
                let left = left.into_iter().map(|each| each.command_line).collect();
                let aftermath = Aftermath { left, ..Aftermath::default() };
                return Taken { aftermath: Some(Box::new(aftermath)), ..taken };
            }
            sleep_until((now + LOOK_EVERY).min(deadline)).await;
        }
    }

    fn trouble_services(&self, trouble: Trouble) -> Taken {
        let fault = match trouble {
            Trouble::Refuses => Broken::Refuse,
            Trouble::Resets => Broken::Reset,
            Trouble::Silent => Broken::Silent,
            Trouble::TooManyRequests => Broken::Busy,
            Trouble::Error => Broken::Failed,
            Trouble::Garbage => Broken::Garbage,
            Trouble::HalfAnAnswer => Broken::Half,
            Trouble::RedirectsForEver => Broken::Loop,
            Trouble::Flood => Broken::Flood,
        };
        let sink = self.connection.vigil().sink();
        sink.into_iter().for_each(|sink| sink.set_fault(Some(fault)));
        said("services", sink.is_none().then(|| "the network is not ours".to_owned()))
    }

    fn trouble_disk(&self, disk: &Disk) -> Taken {
        let Some(process) = self.connection.process() else {
            return said("disk", Some("the server is not ours".to_owned()));
        };
        let of_files =
            |holding: &str, trouble: fn(&Path) -> DiskTrouble<'_>| match &files_holding(process, holding)[..]
            {
                [] => Err(io::Error::other("no file holds what was stored")),
                files => files.iter().try_for_each(|file| process.trouble_disk(trouble(file))),
            };
        let done = match disk {
            Disk::Full => process.trouble_disk(DiskTrouble::Full),
            Disk::Well => process.trouble_disk(DiskTrouble::Over),
            Disk::ReadOnly { holding } => of_files(holding, |file| DiskTrouble::ReadOnly(file)),
            Disk::Vanished { holding } => of_files(holding, |file| DiskTrouble::Gone(file)),
        };
        said("disk", done.err().map(|error| error.to_string()))
    }

    fn sample(&self) -> Option<Sample> {
        self.connection.process().and_then(Process::sample)
    }
}

/// The notifications of progress since so many frames, in order; those behind the answer are late. Over HTTP they may have come
/// by another stream, so there only time tells.
fn progress(connection: &Connection, token: i64, before: u64, answered: u64) -> Vec<Progress> {
    let frames = connection.frames();
    let kept = frames.iter().count() as u64;
    let first = frames.total() - kept;
    let replied = frames.iter().nth(answered.saturating_sub(first + 1) as usize).map(|frame| frame.at);
    let since = frames.iter().enumerate().filter(|(place, _)| first + *place as u64 >= before);
    let told = since.filter_map(|(place, frame)| {
        let notified =
            frame.direction == Direction::Received && frame.correlation == Correlation::Notification;
        let message: Value = serde_json::from_slice(frame.head.as_slice()).ok().filter(|_| notified)?;
        let params = message.get("params").filter(|_| message["method"] == "notifications/progress")?;
        let behind = first + place as u64 >= answered;
        let long_after = replied.is_some_and(|replied| frame.at >= replied + ON_ITS_WAY);
        Some(Progress {
            ours: params.get("progressToken") == Some(&Value::from(token)),
            value: params.get("progress").and_then(Value::as_f64),
            late: behind && (frame.stream == Stream::Stdio || long_after),
        })
    });
    told.take(MAX_PROGRESS).collect()
}

fn said(method: &str, impossible: Option<String>) -> Taken {
    let aftermath = Aftermath { impossible, ..Aftermath::default() };
    Taken { aftermath: Some(Box::new(aftermath)), ..Taken::unanswered(method, Duration::ZERO) }
}

/// Whether the program that we started only started the server, which reads the same input below it. A server with helpers of
/// its own is none: nobody can take along what he started when he is killed.
fn is_launcher(process: &Process) -> bool {
    let input = |pid: u32| std::fs::read_link(format!("/proc/{pid}/fd/0")).ok();
    let Some(own) = input(process.pid()) else { return false };
    let below = process.descendants().unwrap_or_default();
    below.iter().any(|other| input(other.pid).is_some_and(|other| other == own))
}
