//! Files: asked for, found, and what became of it.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod watched;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use wallfacer_process::trace::{Kind, Options, Outcome, Tracer};
use watched::{c, open, shared, shell, start, watch};

fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

#[test]
fn an_open_is_seen_with_its_access_and_its_outcome() {
    let (_folder, path) = folder();
    let [new, none] = [path.join("new"), path.join("no/such")];
    let [new_c, none_c] = [c(&new), c(&none)];
    let watched = watch(|| {
        open(&new_c, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC);
        open(&new_c, libc::O_RDONLY);
        open(&none_c, libc::O_RDWR);
        0
    });
    let [created, read] = &watched.opens(&new)[..] else { panic!("two opens") };
    let Kind::Open { access, location } = &created.kind else { unreachable!() };
    assert!(access.write && access.create && access.truncate && !access.read, "{access:?}");
    assert_eq!(location.asked, Some(new.clone().into()));
    assert!(created.outcome.succeeded());
    assert_eq!((created.pid, created.tid, created.call), (watched.pid, watched.pid, None));
    let Kind::Open { access, .. } = &read.kind else { unreachable!() };
    assert!(access.read && !access.write && !access.create, "{access:?}");
    let [failed] = &watched.opens(&none)[..] else { panic!("one open") };
    assert_eq!(failed.outcome, Outcome::Failed(libc::ENOENT));
}

#[test]
fn a_link_is_resolved_to_what_was_really_opened() {
    let (_folder, path) = folder();
    fs::write(path.join("secret"), "").unwrap();
    symlink("secret", path.join("innocent")).unwrap();
    let link = c(path.join("innocent"));
    let watched = watch(|| {
        open(&link, libc::O_RDONLY);
        0
    });
    let [opened] = &watched.opens(path.join("secret"))[..] else { panic!("{:#?}", watched.events) };
    let Kind::Open { location, .. } = &opened.kind else { unreachable!() };
    assert_eq!(location.asked, Some(path.join("innocent").into()));
}

#[test]
fn a_path_that_a_thread_changes_meanwhile_is_told_as_it_was_opened() {
    const OPENS: usize = 1_000;
    let (_folder, path) = folder();
    for name in ["a", "b"] {
        fs::write(path.join(name), name).unwrap();
    }
    let mut bytes = c(path.join("a")).into_bytes_with_nul();
    let turning = bytes.len() - 2;
    let turning = (&raw mut bytes[turning]).addr();
    let asked = bytes.as_ptr().addr();
    let seen = shared(OPENS);
    let target = seen.as_mut_ptr().addr();
    let watched = watch(move || {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // SAFETY: the two threads race for one byte on purpose; it is never anything but `a` or `b`.
            scope.spawn(|| unsafe {
                while !stop.load(Ordering::Relaxed) {
                    for name in [b'a', b'b'] {
                        (turning as *mut u8).write_volatile(name);
                    }
                }
            });
            for index in 0..OPENS {
                // SAFETY: the path is a C string at all times, and `index` lies within what is shared.
                unsafe {
                    let file = libc::open(asked as *const libc::c_char, libc::O_RDONLY);
                    libc::read(file, (target as *mut libc::c_void).byte_add(index), 1);
                    libc::close(file);
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        0
    });
    let told: Vec<u8> = watched
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::Open { location, .. } => location.resolved.clone(),
            _ => None,
        })
        .filter(|resolved| resolved.as_encoded_bytes().starts_with(path.as_os_str().as_encoded_bytes()))
        .filter_map(|resolved| resolved.as_encoded_bytes().last().copied())
        .collect();
    assert_eq!(String::from_utf8(told), String::from_utf8(seen.to_vec()));
}

#[test]
fn relative_paths_are_told_from_where_they_begin() {
    let (_folder, path) = folder();
    fs::create_dir(path.join("inner")).unwrap();
    fs::write(path.join("inner/file"), "").unwrap();
    let [directory, inner, file, missing] =
        [c(&path), c(path.join("inner")), c("inner/file"), c("inner/missing")];
    let watched = watch(|| {
        // SAFETY: all paths are C strings.
        unsafe {
            let place = libc::open(directory.as_ptr(), libc::O_PATH);
            libc::openat(place, file.as_ptr(), libc::O_RDONLY);
            libc::openat(place, missing.as_ptr(), libc::O_RDONLY);
            libc::chdir(directory.as_ptr());
            open(&file, libc::O_RDONLY);
            open(&missing, libc::O_RDONLY);
            // A thread may have a directory of its own.
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    libc::unshare(libc::CLONE_FS);
                    libc::chdir(inner.as_ptr());
                    open(&c("file"), libc::O_RDONLY);
                    open(&c("missing"), libc::O_RDONLY);
                });
            });
        }
        0
    });
    assert_eq!(watched.opens(path.join("inner/file")).len(), 3);
    assert_eq!(watched.opens(path.join("inner/missing")).len(), 3);
}

#[test]
fn a_path_that_ends_where_memory_ends_is_read() {
    let (_folder, path) = folder();
    let file = path.join("file");
    fs::write(&file, "").unwrap();
    let text = c(&file).into_bytes_with_nul();
    let watched = watch(|| {
        // SAFETY: the two pages are ours, and the path is written into the first.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages =
                libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            libc::munmap(pages.byte_add(4096), 4096);
            let place = pages.byte_add(4096 - text.len()).cast::<u8>();
            place.copy_from_nonoverlapping(text.as_ptr(), text.len());
            libc::open(place.cast(), libc::O_RDONLY);
            // One that does not end is no path; the kernel says so too.
            pages.byte_add(4093).cast::<[u8; 3]>().write(*b"/xy");
            libc::open(pages.byte_add(4093).cast(), libc::O_RDONLY);
            libc::open(std::ptr::null(), libc::O_RDONLY);
        }
        0
    });
    assert_eq!(watched.opens(&file).len(), 1);
    assert_eq!(watched.opens("/xy")[0].outcome, Outcome::Failed(libc::EFAULT));
    let nameless =
        watched.find(|kind| matches!(kind, Kind::Open { location, .. } if location.asked.is_none()));
    assert_eq!(nameless.outcome, Outcome::Failed(libc::EFAULT));
}

#[test]
fn changes_to_the_tree_of_files_are_seen_where_they_happen() {
    let (_folder, path) = folder();
    fs::create_dir(path.join("real")).unwrap();
    symlink("real", path.join("link")).unwrap();
    let script = format!(
        "cd {} && mkdir link/made && echo > link/made/a && mv link/made/a link/made/b && \
         ln link/made/b link/made/hard && ln -s /etc/hostname link/made/soft && chmod 600 link/made/b && \
         truncate -s 3 link/made/b && mkfifo link/made/pipe && rm link/made/* && rmdir link/made",
        path.display()
    );
    let watched = watch(|| shell(&script));
    assert_eq!(watched.exit_code(), Some(0));
    let made = path.join("real/made");
    let is = |location: &wallfacer_process::trace::Location, name: &str| location.path() == made.join(name);
    watched.find(|kind| matches!(kind, Kind::MakeDirectory { location } if location.path() == made));
    watched.find(|kind| matches!(kind, Kind::Rename { from, to } if is(from, "a") && is(to, "b")));
    watched.find(|kind| matches!(kind, Kind::Link { from, to } if is(from, "b") && is(to, "hard")));
    watched.find(|kind| {
        matches!(kind, Kind::Symlink { target, location } if target == "/etc/hostname" && is(location, "soft"))
    });
    watched.find(|kind| matches!(kind, Kind::ChangeMode { location, mode: 0o600 } if is(location, "b")));
    watched.find(|kind| matches!(kind, Kind::MakeNode { location, .. } if is(location, "pipe")));
    for name in ["b", "hard", "soft", "pipe"] {
        watched.find(|kind| matches!(kind, Kind::Unlink { location } if is(location, name)));
    }
    watched.find(|kind| matches!(kind, Kind::RemoveDirectory { location } if location.path() == made));
}

#[test]
fn changes_through_a_link_or_a_descriptor_name_the_file_itself() {
    let (_folder, path) = folder();
    fs::write(path.join("file"), "12345").unwrap();
    symlink("file", path.join("link")).unwrap();
    let link = c(path.join("link"));
    let attribute = c"user.test";
    let watched = watch(|| {
        // SAFETY: all texts are C strings.
        unsafe {
            libc::truncate(link.as_ptr(), 2);
            libc::chmod(link.as_ptr(), 0o640);
            libc::chown(link.as_ptr(), libc::getuid(), libc::getgid());
            libc::setxattr(link.as_ptr(), attribute.as_ptr(), attribute.as_ptr().cast(), 4, 0);
            let file = libc::open(link.as_ptr(), libc::O_RDONLY);
            libc::fchmod(file, 0o604);
        }
        0
    });
    let file = path.join("file");
    for wanted in [
        watched
            .find(|kind| matches!(kind, Kind::Truncate { length: 2, location } if location.path() == file)),
        watched.find(
            |kind| matches!(kind, Kind::ChangeMode { mode: 0o640, location } if location.path() == file),
        ),
        watched.find(
            |kind| matches!(kind, Kind::ChangeMode { mode: 0o604, location } if location.path() == file),
        ),
        watched.find(|kind| matches!(kind, Kind::ChangeOwner { location, .. } if location.path() == file)),
    ] {
        assert!(wanted.outcome.succeeded(), "{wanted:?}");
    }
    watched.find(
        |kind| matches!(kind, Kind::ChangeAttribute { name, location } if name == "user.test" && location.path() == file),
    );
}

#[test]
fn looking_at_a_file_without_opening_it_is_no_event() {
    let (_folder, path) = folder();
    fs::write(path.join("file"), "").unwrap();
    let file = c(path.join("file"));
    let watched = watch(|| {
        // SAFETY: the path is a C string, and the structure is written by the call.
        unsafe {
            let mut found = std::mem::zeroed::<libc::stat>();
            libc::access(file.as_ptr(), libc::R_OK) + libc::stat(file.as_ptr(), &mut found)
        }
    });
    assert_eq!(watched.exit_code(), Some(0));
    let [exit] = &watched.events[..] else { panic!("{:#?}", watched.events) };
    assert_eq!(exit.kind, Kind::Exit { status: 0 });
}

#[test]
fn an_open_that_waits_is_pending_and_one_that_is_killed_is_unfinished() {
    let (_folder, path) = folder();
    let fifo = path.join("fifo");
    let fifo_c = c(&fifo);
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(fifo_c.as_ptr(), 0o600) }, 0);
    let running = watched::start(Default::default(), None, || open(&fifo_c, libc::O_RDONLY));
    while running.recorder.pending().is_empty() {
        std::thread::yield_now();
    }
    let waits = running.recorder.pending().remove(0);
    assert!(matches!(&waits.kind, Kind::Open { location, .. } if location.path() == fifo));
    // SAFETY: the target is unreaped: its number is its own.
    unsafe { libc::kill(running.pid as libc::pid_t, libc::SIGKILL) };
    let watched = running.end();
    assert_eq!(watched.opens(&fifo)[0].outcome, Outcome::Unfinished);
    assert_eq!(libc::WTERMSIG(watched.status), libc::SIGKILL);
}

#[test]
fn a_process_that_is_not_there_cannot_be_watched() {
    let (_wait, go) = std::io::pipe().unwrap();
    let recorder = std::sync::Arc::new(wallfacer_process::trace::Recorder::new(Default::default()));
    let error = Tracer::attach(i32::MAX as u32, go.into(), recorder, None).unwrap_err();
    assert_eq!(error.to_string(), "process 2147483647 cannot be watched: the system refuses ptrace");
}

#[test]
fn what_is_looked_for_in_vain_is_seen_only_where_that_is_asked_for() {
    let (_folder, path) = folder();
    fs::write(path.join("there"), "").unwrap();
    let [there, none] = [c(path.join("there")), c(path.join("none"))];
    let looks = |lookups| {
        let options = Options { lookups, ..Options::default() };
        let watched = start(options, None, || {
            for place in [&there, &none] {
                // SAFETY: both are C strings, and nothing is written.
                unsafe {
                    libc::access(place.as_ptr(), libc::R_OK);
                    libc::faccessat(libc::AT_FDCWD, place.as_ptr(), libc::R_OK, 0);
                }
            }
            0
        });
        let look = |event: wallfacer_process::trace::Event| match event.kind {
            Kind::Look { location } => Some((location.path(), event.outcome)),
            _ => None,
        };
        watched.end().events.into_iter().filter_map(look).collect::<Vec<_>>()
    };
    let missed = (path.join("none"), Outcome::Failed(libc::ENOENT));
    assert_eq!(looks(true), [missed.clone(), missed]);
    assert_eq!(looks(false), []);
}
