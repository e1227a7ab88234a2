//! On every rung that counts as confining, what is private stays so, and no socket, pipe or device of others is reached.
//!
//! All of this is tried as whoever runs the tests and, if that is the administrator, as an ordinary user too.

mod common;

use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Command;

use common::{NOBODY, command, is_administrator, output, sh, soon};
use wallfacer_process::jail::{Gap, Jail, Network};
use wallfacer_process::{Confinement, Process, Rung, Spec};

const CONFINING: [Rung; 3] = [Rung::Overlay, Rung::ReadOnly, Rung::Fence];

/// What [`below_mounts`] is told.
const PLACE: &str = "WALLS_PLACE";

fn jailed(spec: Spec, rung: Rung) -> Spec {
    // Nobody says what the home is.
    let jail = Jail { best: rung, network: Network::Deny, ..Jail::new("/nonexistent", 7) };
    Spec { jail: Some(jail), cwd: spec.cwd.clone().or_else(|| Some("/".into())), ..spec }
}

fn python(script: &str, args: &[&Path]) -> Spec {
    let mut spec = command("/usr/bin/python3", &["-c", script]);
    spec.args.extend(args.iter().map(|path| path.as_os_str().to_owned()));
    spec
}

async fn run(spec: &Spec) -> (Confinement, String) {
    let (process, stdio) = Process::start(spec).expect("it starts");
    let confinement = process.confinement();
    assert_eq!(confinement.rung, spec.jail.as_ref().unwrap().best, "{confinement:?}");
    assert!(confinement.is_confining(), "{confinement:?}");
    drop(stdio.stdin);
    let said = output(stdio.stdout).await;
    soon(process.exited()).await;
    let stderr = String::from_utf8_lossy(&process.stderr().tail).into_owned();
    (confinement, said + &stderr)
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn homes_and_keys_are_out_of_sight_even_if_nobody_says_where_the_home_is() {
    let script = "import os
def tried(act):
    try: return act()
    except OSError as error: return []
installed = ('.pyenv', '.npm', '.cache', '.local', '.cargo', '.rustup', '.nvm', '.bun', 'go')
for home in ['/root', '/home']:
    for name in tried(lambda: os.listdir(home)):
        if name not in installed: print('seen', home, name)
for path in ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/sudoers', '/etc/krb5.keytab', '/root/.bashrc', '/root/.profile']:
    if tried(lambda: open(path).read()): print('read', path)
for path in ['/etc/ssl/private', '/var/backups', '/etc/sudoers.d', '/var/lib/docker', '/var/lib/postgresql']:
    if tried(lambda: os.listdir(path)): print('listed', path)
print('done')";
    for rung in CONFINING {
        assert_eq!(run(&jailed(python(script, &[]), rung)).await.1, "done\n", "{rung}");
    }
}

#[tokio::test]
async fn what_is_named_inside_a_private_place_is_seen_and_nothing_beside_it() {
    // Only the administrator can put something there.
    if !is_administrator() {
        return;
    }
    let project = tempfile::tempdir_in("/var/backups").unwrap();
    let sibling = tempfile::tempdir_in("/var/backups").unwrap();
    fs::write(project.path().join("data"), "here\n").unwrap();
    fs::write(sibling.path().join("data"), "there\n").unwrap();
    let lonely = sibling.path().join("named");
    fs::write(&lonely, "named\n").unwrap();
    let script = format!(
        "cat data; cat \"$0\"; cat {0}/data 2>/dev/null; ls {0} 2>/dev/null",
        sibling.path().display()
    );
    for rung in CONFINING {
        let mut spec = jailed(sh(&script), rung);
        spec.cwd = Some(project.path().into());
        spec.args.push(lonely.clone().into());
        let said = run(&spec).await.1;
        let listed = if rung == Rung::Fence { "" } else { "named\n" };
        assert_eq!(said, format!("here\nnamed\n{listed}"), "{rung}");
    }
}

#[tokio::test]
async fn a_home_that_is_the_working_directory_of_another_user_is_seen() {
    if !is_administrator() {
        return;
    }
    // As where a container's image gives a service the directory of its program as home.
    let script = "ls -A | head -1 > /dev/null && echo listed";
    for rung in CONFINING {
        let mut spec = jailed(sh(script), rung);
        spec.cwd = Some("/var/backups".into());
        assert_eq!(run(&spec).await.1, "listed\n", "{rung}");
    }
}

const REACH: &str = "import os, socket, sys
def tried(name, act):
    try: act(); print(name, 'reached')
    except OSError: pass
place = sys.argv[1]
pair = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
tried('stream', lambda: socket.socket(socket.AF_UNIX).connect(place + '/stream'))
tried('datagram', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', place + '/datagram'))
tried('pair', lambda: pair().sendto(b'x', place + '/datagram'))
tried('connected pair', lambda: pair().connect(place + '/datagram'))
tried('device', lambda: open(place + '/device', 'rb').read(1))
if len(sys.argv) > 2: tried('pipe', lambda: os.open(place + '/pipe', os.O_WRONLY | os.O_NONBLOCK))
a, b = socket.socketpair()
a.sendall(b'x')
print(b.recv(1))
";

/// Puts sockets, a pipe that is read from and, if we may, a device into a directory. They work as long as this is held.
fn furnish(place: &Path) -> (UnixListener, UnixDatagram, fs::File) {
    let run = |program: &str, args: &[&str]| Command::new(program).args(args).status().unwrap().success();
    let pipe = place.join("pipe");
    assert!(run("mkfifo", &[pipe.to_str().unwrap()]));
    if is_administrator() && !place.join("device").exists() {
        assert!(run("mknod", &["-m", "666", place.join("device").to_str().unwrap(), "c", "1", "5"]));
    }
    let reader = fs::File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
    for name in ["stream", "datagram", "pipe"] {
        let _ = fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o666));
    }
    (
        UnixListener::bind(place.join("stream")).unwrap(),
        UnixDatagram::bind(place.join("datagram")).unwrap(),
        reader,
    )
}

#[tokio::test]
async fn no_rung_that_confines_reaches_a_unix_socket_by_its_path() {
    let place = tempfile::tempdir().unwrap();
    let _held = furnish(place.path());
    for rung in CONFINING {
        let (confinement, said) = run(&jailed(python(REACH, &[place.path()]), rung)).await;
        // Landlock knows no devices, and says so.
        let said = match rung {
            Rung::Fence if confinement.gaps.contains(&Gap::DevicesRead) => {
                said.replace("device reached\n", "")
            }
            _ => said,
        };
        assert_eq!(said, "b'x'\n", "{rung}: {confinement:?}");
    }
}

#[tokio::test]
async fn interpreters_work_where_unix_sockets_are_refused() {
    let threads = "import asyncio, concurrent.futures, multiprocessing, subprocess
async def main():
    print(await asyncio.get_running_loop().run_in_executor(None, lambda: 1))
    print((await (await asyncio.create_subprocess_exec('echo', 'two', stdout=-1)).communicate())[0])
asyncio.run(main())
print(subprocess.run(['echo', 'three'], capture_output=True).stdout)
with concurrent.futures.ThreadPoolExecutor(1) as pool: print(pool.submit(abs, -4).result())
one, other = multiprocessing.Pipe()
child = multiprocessing.get_context('fork').Process(target=lambda: other.send('five'))
child.start()
print(one.recv())";
    let node = "const { fork, execSync } = require('child_process');
const { Worker } = require('worker_threads');
if (process.argv[1] === 'child') process.send('five');
else {
  console.log(execSync('echo six').toString().trim());
  new Worker(\"require('worker_threads').parentPort.postMessage('seven')\", { eval: true }).on('message', m => console.log(m));
}";
    for rung in [Rung::ReadOnly, Rung::Fence] {
        let said = run(&jailed(python(threads, &[]), rung)).await.1;
        assert_eq!(said, "1\nb'two\\n'\nb'three\\n'\n4\nfive\n", "{rung}");
        let said = run(&jailed(command("node", &["-e", node]), rung)).await.1;
        assert_eq!(said, "six\nseven\n", "{rung}");
    }
}

#[tokio::test]
async fn behind_a_fence_nothing_without_a_path_and_no_mode_is_changed() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "text").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let script = format!(
        "import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1].encode()
def tried(name, result):
    if result >= 0: print(name, 'succeeded')
os.chmod(path, 0o777)
os.utime(path, (1, 1))
os.fchmod(os.open(path, os.O_RDONLY), 0o777)
tried('shared memory', libc.shmget(77, 4096, 0o1600))
tried('message queue', libc.msgget(77, 0o1600))
tried('key', libc.syscall(248, b'user', b'x', b'x', 1, -4))
tried('limits of another', libc.prlimit({us}, 7, ctypes.create_string_buffer(16), None))
tried('signal', libc.kill({us}, 0))
for device in ('/dev/vda', '/dev/sda', '/dev/mem', '/dev/kmsg', '/dev/nvme0n1'):
    tried(device, libc.open(device.encode(), 0))
tried('io_uring', libc.syscall(425, 4, ctypes.create_string_buffer(120)))
print('done')",
        us = std::process::id(),
    );
    let (confinement, said) = run(&jailed(python(&script, &[&file]), Rung::Fence)).await;
    assert_eq!(said, "done\n");
    let after = file.metadata().unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    assert!(after.modified().unwrap().elapsed().unwrap().as_secs() < 3600);
    let told: Vec<_> = confinement.gaps.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|gap| gap.contains("sees the other processes")), "{told:?}");
}

#[tokio::test]
async fn the_jail_does_not_say_what_it_is() {
    let script =
        "cat /proc/1/comm; tr '\\0' ' ' < /proc/1/cmdline; echo; hostname; cat /proc/self/mountinfo; env;
        cat /proc/1/environ 2>/dev/null; readlink /proc/1/exe /proc/1/cwd; ls /";
    for rung in [Rung::Overlay, Rung::ReadOnly] {
        let said = run(&jailed(sh(script), rung)).await.1;
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert!(said.starts_with(&format!("init\n/sbin/init \n{host}")), "{said}");
        let test = std::env::current_exe().unwrap();
        for word in ["wallfacer", "jail", "=/old/", "=/new/", "/layers", test.to_str().unwrap()] {
            let told: Vec<_> = said.lines().filter(|line| line.to_lowercase().contains(word)).collect();
            assert!(told.is_empty(), "{rung}: {told:?}");
        }
    }
}

#[test]
fn directories_with_mounts_below_them_are_put_together_of_overlays() {
    if !is_administrator() {
        return;
    }
    for part in ["below_mounts", "below_mounts_with_very_many_entries"] {
        for user in [0, NOBODY] {
            let place = tempfile::tempdir().unwrap();
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
            fs::create_dir(place.path().join("sub")).unwrap();
            let script = format!(
                "mount -t tmpfs -o mode=777,dev none \"${PLACE}/sub\" && mknod -m 666 \"${PLACE}/sub/device\" c 1 5 \
                 && exec setpriv --reuid {user} --regid {user} --clear-groups \"$0\" --ignored --exact --nocapture {part}"
            );
            let run = Command::new("unshare")
                .args(["--mount", "sh", "-c", &script])
                .arg(std::env::current_exe().unwrap())
                .env(PLACE, place.path())
                .current_dir("/")
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && told.contains("1 passed"), "{part} as {user}: {told}");
        }
    }
}

#[tokio::test]
#[ignore = "runs where a mount is"]
async fn below_mounts() {
    let place = told_place();
    let place = Path::new(&place);
    let inner = place.join("sub");
    let _held = (furnish(place), furnish(&inner));
    fs::write(place.join("file"), "outer\n").unwrap();
    fs::write(inner.join("file"), "inner\n").unwrap();
    for directory in [place, &inner] {
        let mut spec = jailed(python(REACH, &[directory, Path::new("pipe")]), Rung::Overlay);
        spec.cwd = Some(place.into());
        let (confinement, said) = run(&spec).await;
        assert_eq!(said, "b'x'\n", "{confinement:?}");
        assert_eq!((&confinement.bound, &confinement.gaps), (&Vec::new(), &Vec::new()));
    }
    let mut spec =
        jailed(sh("cat file sub/file; echo x > new && echo y > sub/new && cat new sub/new"), Rung::Overlay);
    spec.cwd = Some(place.into());
    assert_eq!(run(&spec).await.1, "outer\ninner\nx\ny\n");
    assert!(!place.join("new").exists() && !inner.join("new").exists());
}

#[tokio::test]
#[ignore = "runs where a mount is"]
async fn below_mounts_with_very_many_entries() {
    let place = told_place();
    let place = Path::new(&place);
    let inner = place.join("sub");
    let _held = (furnish(place), furnish(&inner));
    for number in 0..300 {
        fs::write(place.join(number.to_string()), "").unwrap();
    }
    for directory in [place, &inner] {
        let mut spec = jailed(python(REACH, &[directory]), Rung::Overlay);
        spec.cwd = Some(place.into());
        let (confinement, said) = run(&spec).await;
        assert_eq!(said, "b'x'\n", "{confinement:?}");
        assert_eq!(confinement.bound, [place]);
        let told =
            format!("it can open named pipes in {}: no overlay of that could be made", place.display());
        assert_eq!(confinement.gaps.iter().map(Gap::to_string).collect::<Vec<_>>(), [told]);
    }
    let mut spec = jailed(sh("(echo x > new) 2>/dev/null || echo refused"), Rung::Overlay);
    spec.cwd = Some(place.into());
    assert_eq!(run(&spec).await.1, "refused\n");
}

/// The directory that the test which plays against us names.
#[allow(clippy::disallowed_methods, reason = "a test tells its other half by a variable")]
fn told_place() -> std::ffi::OsString {
    std::env::var_os(PLACE).unwrap()
}
