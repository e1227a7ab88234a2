//! A jailed server lives in a world that looks like the real one, and what it does there stays there.
//!
//! All of this is tried as whoever runs the tests and, if that is the administrator, as an ordinary user too.

mod common;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use common::{NOBODY, command, is_administrator, line, output, sh, soon};
use tempfile::TempDir;
use tokio::io::BufReader;
use wallfacer_process::jail::{Change, Effect, Entry, Jail, Network, Plant, offers};
use wallfacer_process::{Process, Rung, Spec, Status};

/// A home with a secret in it, which the jail puts canaries in the place of.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".ssh")).unwrap();
        fs::write(home.path().join(".ssh/id_rsa"), "the real key").unwrap();
        fs::write(home.path().join("diary"), "dear diary").unwrap();
        Self(home)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn jail(&self) -> Jail {
        Jail::new(self.path(), 7)
    }

    fn jailed(&self, spec: Spec) -> Spec {
        let mut env = spec.env.clone();
        env.insert("HOME".into(), self.path().into());
        let cwd = Some("/".into());
        Spec { jail: Some(self.jail()), env, cwd, ..spec }
    }

    /// Runs a script in a jail; gives the process and all it said.
    async fn run(&self, script: &str) -> (Process, String) {
        run(&self.jailed(sh(script))).await
    }
}

async fn run(spec: &Spec) -> (Process, String) {
    let (process, stdio) = Process::start(spec).expect("it starts");
    assert_eq!(process.confinement().rung, Rung::Overlay, "{:?}", process.confinement());
    drop(stdio.stdin);
    let said = output(stdio.stdout).await;
    soon(process.exited()).await;
    (process, said)
}

fn python(script: &str) -> Spec {
    command("/usr/bin/python3", &["-c", script])
}

fn effects(process: &Process) -> BTreeMap<PathBuf, Effect> {
    let changes = process.changes().expect("changes are kept");
    assert!(!changes.more && changes.unreadable.is_empty(), "{changes:?}");
    changes.changes.into_iter().map(|Change { path, effect, .. }| (path, effect)).collect()
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn python_and_node_start_and_speak() {
    let home = Home::new();
    let echo = "import sys\nfor line in sys.stdin: print('heard ' + line, end='', flush=True)";
    let listen = "process.stdin.on('data', bytes => process.stdout.write('heard ' + bytes))";
    for spec in [python(echo), command("node", &["-e", listen])] {
        let (process, mut stdio) = Process::start(&home.jailed(spec)).unwrap();
        soon(tokio::io::AsyncWriteExt::write_all(&mut stdio.stdin, b"a word\n")).await.unwrap();
        assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "heard a word");
        drop(stdio.stdin);
        assert_eq!(soon(process.exited()).await.status, Status::Exited(0));
    }
}

#[tokio::test]
async fn interpreters_in_the_home_directory_stay_and_their_secrets_go() {
    // Only where the tests' own user has such a home.
    let home = Path::new("/root");
    if !is_administrator() || !home.join(".pyenv/shims/python3").exists() {
        return;
    }
    let path = "/root/.pyenv/shims:/root/.pyenv/bin:/usr/bin:/bin";
    let script = "import os, sys; print(sys.executable); print(os.path.exists('/root/.gitconfig'))";
    let mut spec = command("python3", &["-c", script]);
    spec.env = [("PATH".into(), path.into()), ("HOME".into(), home.into())].into();
    spec.jail = Some(Jail::new(home, 1));
    let (process, said) = run(&spec).await;
    assert!(said.starts_with("/root/.pyenv/versions/") && said.ends_with("False\n"), "{said}");
    drop(process);
}

#[tokio::test]
async fn what_is_written_is_read_again_and_reaches_nothing_outside() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("kept"), "as it was").unwrap();
    fs::write(place.path().join("lost"), "here").unwrap();
    let script = format!(
        "cd {0} && echo new > made && rm lost && echo more >> kept && mkdir sub && ln -s /etc sub/link && cat made kept
         echo x > ~/written && rm ~/.netrc && cat ~/written",
        place.path().display()
    );
    let mut spec = home.jailed(sh(&script));
    spec.args.push(place.path().into());
    let (process, said) = run(&spec).await;
    assert_eq!(said, "new\nas it wasmore\nx\n");
    let at = |name: &str| place.path().join(name);
    let in_home = |name: &str| home.path().join(name);
    let expected = [
        (at("made"), Effect::Created),
        (at("lost"), Effect::Deleted),
        (at("kept"), Effect::Modified),
        (at("sub"), Effect::Created),
        (at("sub/link"), Effect::Created),
        (in_home("written"), Effect::Created),
        (in_home(".netrc"), Effect::Deleted),
    ];
    assert_eq!(effects(&process), expected.into());
    assert_eq!(process.read_written(&at("kept"), 100).unwrap(), b"as it wasmore\n");
    let names: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(fs::read(at("kept")).unwrap(), b"as it was");
    assert!(!in_home("written").exists());
}

#[tokio::test]
async fn the_system_can_be_changed_just_as_far_as_the_user_might() {
    let home = Home::new();
    let script = "echo x > /etc/evil; rm -f /etc/hostname; mkdir /usr/evil; echo x > /evil; ls -d /etc/evil /usr/evil /evil";
    let (process, said) = home.run(script).await;
    for path in ["/etc/evil", "/usr/evil", "/evil"] {
        assert!(!Path::new(path).exists());
    }
    assert!(Path::new("/etc/hostname").exists());
    let effects = effects(&process);
    if is_administrator() {
        assert_eq!(said, "/etc/evil\n/evil\n/usr/evil\n");
        let expected = [
            ("/etc/evil", Effect::Created),
            ("/etc/hostname", Effect::Deleted),
            ("/evil", Effect::Created),
            ("/usr/evil", Effect::Created),
        ];
        assert_eq!(effects, expected.map(|(path, effect)| (path.into(), effect)).into());
    } else {
        let refused = ["/etc/evil", "/etc/hostname", "/usr/evil"];
        assert!(refused.iter().all(|path| !effects.contains_key(Path::new(path))), "{effects:?} {said}");
    }
}

#[tokio::test]
async fn changes_are_seen_while_the_server_runs() {
    let home = Home::new();
    let (process, stdio) = Process::start(&home.jailed(sh("echo x > /tmp/a; echo done; exec cat"))).unwrap();
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "done");
    let changes = process.changes().unwrap().changes;
    let made = Change { path: "/tmp/a".into(), effect: Effect::Created, entry: Entry::File, bytes: 2 };
    assert_eq!(changes, [made]);
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_not_modified_and_a_replaced_directory_is_told_apart() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::write(place.path().join(name).join("file"), "text").unwrap();
    }
    let script = "cd \"$0\" && touch one/file && rm -r two && mkdir two && echo other > two/new";
    let mut spec = home.jailed(sh(script));
    spec.args.push(place.path().into());
    let (process, _) = run(&spec).await;
    let at = |name: &str| place.path().join(name);
    let expected =
        [(at("one/file"), Effect::Touched), (at("two"), Effect::Replaced), (at("two/new"), Effect::Created)];
    assert_eq!(effects(&process), expected.into());
}

#[tokio::test]
async fn canaries_lie_where_the_secrets_were() {
    let home = Home::new();
    let canaries = home.jail().canaries();
    let (_, said) = home.run("ls ~/diary; cat ~/.ssh/id_rsa ~/.aws/credentials").await;
    assert!(!said.contains("the real key"), "{said}");
    for name in [".ssh/id_rsa", ".aws/credentials"] {
        let canary = canaries.iter().find(|canary| canary.path == home.path().join(name)).unwrap();
        assert!(canary.tokens.iter().all(|token| said.contains(token)), "{said}");
    }
    assert!(!said.contains("diary"));
}

#[tokio::test]
async fn plants_take_the_place_of_what_is_there_and_are_no_changes() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("scope")).unwrap();
    let at = |name: &str| place.path().join(name);
    let mut spec = home.jailed(sh("cd \"$0\"; cat ../secret link/inside; program; ls ../scope-2"));
    spec.args.push(at("scope").into());
    spec.env.insert("PATH".into(), "/opt/planted:/usr/bin:/bin".into());
    let file = |content: &str| Plant::File { content: content.into(), executable: false };
    let program = Plant::File { content: b"#!/bin/sh\necho ran\n".to_vec(), executable: true };
    spec.jail.as_mut().unwrap().plants = [
        (at("secret"), file("told\n")),
        (at("scope/link"), Plant::Symlink(at("elsewhere"))),
        (at("elsewhere/inside"), file("reached\n")),
        (at("scope-2/.git/HEAD"), file("ref: refs/heads/main\n")),
        (at("scope-2/seen"), Plant::Directory),
        ("/opt/planted/program".into(), program),
    ]
    .into();
    let (process, said) = run(&spec).await;
    assert_eq!(said, "told\nreached\nran\nseen\n", "{:?}", process.confinement());
    assert_eq!(effects(&process), BTreeMap::new());
}

#[tokio::test]
async fn the_script_the_working_directory_and_what_is_named_stay_visible() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    let script = place.path().join("project/src/server.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::create_dir_all(home.path().join("work")).unwrap();
    fs::write(place.path().join("project/package.json"), "{}").unwrap();
    fs::write(home.path().join("work/data"), "data\n").unwrap();
    fs::write(home.path().join("alone.db"), "rows\n").unwrap();
    fs::write(&script, "cat data \"$1\"; echo more >> \"$1\"; ls ../project 2>&1; ls $(dirname $0)/..")
        .unwrap();
    let mut spec = home.jailed(command("sh", &[script.to_str().unwrap()]));
    spec.args.push(home.path().join("alone.db").into());
    spec.cwd = Some(home.path().join("work"));
    let (process, said) = run(&spec).await;
    assert!(said.starts_with("data\nrows\n") && said.ends_with("package.json\nsrc\n"), "{said}");
    assert_eq!(effects(&process), [(home.path().join("alone.db"), Effect::Modified)].into());
    assert_eq!(fs::read(home.path().join("alone.db")).unwrap(), b"rows\n");
}

#[tokio::test]
async fn nobody_outside_can_be_spoken_to() {
    let home = Home::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let place = tempfile::tempdir().unwrap();
    let named = place.path().join("socket");
    let _named = UnixListener::bind(&named).unwrap();
    let nameless = format!("wallfacer-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&nameless).unwrap();
    let _nameless = UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        "import socket
for family, address in ((socket.AF_INET, ('127.0.0.1', {port})), (socket.AF_UNIX, '{}'), (socket.AF_UNIX, '\\0{nameless}')):
    try:
        socket.socket(family).connect(address)
        print('connected')
    except OSError as error:
        print(error.strerror)",
        named.display()
    );
    let mut spec = home.jailed(python(&script));
    // Even where the socket itself can be seen.
    spec.args.push(place.path().into());
    let (_, said) = run(&spec).await;
    assert_eq!(said, "Connection refused\nConnection refused\nConnection refused\n");
}

#[tokio::test]
async fn nothing_that_takes_more_rights_succeeds() {
    let home = Home::new();
    let us = std::process::id();
    let script = format!(
        "import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, result):
    if result >= 0: print(name, 'succeeded')
tried('mount', libc.mount(b'x', b'/mnt', b'tmpfs', 0, None))
tried('unmount', libc.umount2(b'/root', 2))
tried('unshare', libc.unshare(0x10000000))
tried('unshare mounts', libc.unshare(0x00020000))
tried('ptrace', libc.ptrace(16, {us}, 0, 0))
tried('ptrace of the keeper', libc.ptrace(16, 1, 0, 0))
tried('kill', libc.kill({us}, 9))
tried('chroot', libc.chroot(b'/tmp'))
tried('mknod', libc.mknod(b'/tmp/disk', 0o60666, 0xfe00))
tried('setuid', libc.setuid({}))
tried('pivot_root', libc.syscall({}, b'.', b'.'))
tried('sethostname', libc.sethostname(b'x', 1))
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/1/mem', '/sys/power/state', '/dev/mem', '/dev/vda', '/proc/sys/kernel/pid_max', '/proc/sys/user/max_user_namespaces'):
    tried(path, libc.open(path.encode(), os.O_RDWR))
    tried(path, libc.open(path.encode(), os.O_WRONLY))
parameters = ctypes.create_string_buffer(120)
tried('io_uring', libc.syscall(425, 4, parameters))
tried('socket to the hypervisor', libc.socket(40, 1, 0))
tried('socket of Bluetooth', libc.socket(31, 3, 0))
os.kill(1, 9)
print('alive', os.getpid() != 1, len(os.listdir('/proc/self/fd')))",
        if is_administrator() { 1000 } else { 0 },
        libc::SYS_pivot_root,
    );
    let (process, said) = run(&home.jailed(python(&script))).await;
    assert_eq!(said, "alive True 4\n", "{}", String::from_utf8_lossy(&process.stderr().tail));
}

#[tokio::test]
async fn a_second_process_shares_the_disk_of_the_first_and_ends_with_it() {
    let home = Home::new();
    let script = "read word; echo $word >> /tmp/words; cat /tmp/words; exec cat";
    let mut spec = home.jailed(sh(script));
    let (alone, _stdio) = Process::start(&spec).unwrap();
    assert!(alone.second().await.is_err(), "none waits where none was asked for");
    spec.jail.as_mut().unwrap().second = true;
    let (process, mut first) = Process::start(&spec).unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut first.stdin, b"one\n").await.unwrap();
    let mut said = BufReader::new(first.stdout);
    assert_eq!(line(&mut said).await, "one");
    let mut second = process.second().await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut second.stdin, b"two\n").await.unwrap();
    let mut said = BufReader::new(second.stdout);
    assert_eq!((line(&mut said).await, line(&mut said).await), ("one".to_owned(), "two".to_owned()));
    drop(first.stdin);
    soon(process.exited()).await;
    process.kill();
    let mut rest = String::new();
    soon(tokio::io::AsyncReadExt::read_to_string(&mut said, &mut rest)).await.unwrap();
    assert_eq!(rest, "");
}

#[tokio::test]
async fn keys_of_the_session_are_out_of_reach_whatever_the_network() {
    // The number of the session's keyring, which every process outside has, and the names of keys.
    let script = format!(
        "import ctypes
print(ctypes.CDLL(None).syscall({}, 0, -3, 1) > 0)
try: print(len(open('/proc/keys').read()) > 0)
except OSError: print(False)",
        libc::SYS_keyctl
    );
    for network in [Network::Sink, Network::Host] {
        let home = Home::new();
        let mut jailed = home.jailed(python(&script));
        jailed.jail.as_mut().unwrap().network = network;
        assert_eq!(run(&jailed).await.1, "False\nFalse\n");
    }
}

#[tokio::test]
async fn a_setuid_program_runs_as_whoever_starts_it() {
    // Only the administrator can make a program that belongs to another.
    if !is_administrator() {
        return;
    }
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("whoami");
    fs::copy("/usr/bin/whoami", &program).unwrap();
    std::os::unix::fs::chown(&program, Some(NOBODY), None).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    let free = Process::start(&command(program.to_str().unwrap(), &[])).unwrap();
    assert_eq!(output(free.1.stdout).await, "nobody\n");
    let (_, said) = run(&home.jailed(command(program.to_str().unwrap(), &[]))).await;
    assert_eq!(said, "root\n");
}

#[tokio::test]
async fn disk_memory_and_processes_are_limited() {
    let home = Home::new();
    let mut limited = home.jailed(sh(
        "head -c 100000000 /dev/zero > /tmp/a; cat /tmp/a > ~/b; wc -c < /tmp/a; test $(wc -c < /tmp/a) -lt 33554432 && echo full",
    ));
    limited.jail.as_mut().unwrap().limits.disk_bytes = 32 << 20;
    let (_, said) = run(&limited).await;
    assert!(said.ends_with("full\n"), "{said}");

    let hog = "try:\n b = bytearray(1 << 30)\n print('had it')\nexcept MemoryError: print('refused')";
    let mut limited = home.jailed(python(hog));
    limited.jail.as_mut().unwrap().limits.memory_bytes = 512 << 20;
    assert_eq!(run(&limited).await.1, "refused\n");

    // No process of these takes much, but all of them together.
    let family = "import mmap, os, time
for _ in range(8):
    if os.fork() == 0:
        shared = mmap.mmap(-1, 100 << 20)
        shared.write(bytes(100 << 20))
        time.sleep(1000)
time.sleep(1000)";
    let mut limited = home.jailed(python(family));
    limited.jail.as_mut().unwrap().limits.memory_bytes = 400 << 20;
    let (process, _stdio) = Process::start(&limited).unwrap();
    soon(process.exited()).await;
    assert!(process.was_too_large());

    let bomb = "import os, time
count = 0
try:
    while count < 5000:
        if os.fork() == 0:
            time.sleep(1000)
        count += 1
except OSError: print('stopped', count < 1000)";
    let mut limited = home.jailed(python(bomb));
    limited.jail.as_mut().unwrap().limits.processes = 600;
    let (process, stdio) = Process::start(&limited).unwrap();
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "stopped True");
    drop(process);
}

#[tokio::test]
async fn endings_are_the_same_as_without_a_jail() {
    let home = Home::new();
    for script in [
        "exit 0",
        "exit 7",
        "kill -ABRT $$",
        "kill -SEGV $$",
        "kill -KILL $$",
        "kill -TERM $$",
        "kill -PIPE $$",
    ] {
        let (process, _) = home.run(script).await;
        let jailed = soon(process.exited()).await.status;
        let (process, _stdio) = Process::start(&sh(script)).unwrap();
        let free = soon(process.exited()).await.status;
        let bare = |status| match status {
            Status::Signalled { signal, .. } => (None, Some(signal)),
            Status::Exited(code) => (Some(code), None),
            Status::Unknown => (None, None),
        };
        assert_eq!(bare(jailed), bare(free), "{script}");
    }
}

#[tokio::test]
async fn a_jailed_server_is_signalled_sampled_and_ended_like_any_other() {
    let home = Home::new();
    let script =
        "trap 'echo caught; exit 3' TERM; setsid sleep 1000 & echo ready; while :; do read line; done";
    let (process, stdio) = Process::start(&home.jailed(sh(script))).unwrap();
    let mut stdout = BufReader::new(stdio.stdout);
    assert_eq!(line(&mut stdout).await, "ready");
    assert!(common::is_alive(process.pid()), "the number is one of ours");
    assert_eq!(process.descendants().unwrap().len(), 1, "{:?}", process.descendants());
    assert!(process.sample().unwrap().processes >= 2);
    process.signal(libc::SIGTERM).unwrap();
    drop(stdio.stdin);
    assert_eq!(line(&mut stdout).await, "caught");
    assert_eq!(soon(process.exited()).await.status, Status::Exited(3));
    let ended = soon(process.end(std::time::Duration::ZERO)).await;
    assert_eq!(ended.left_behind.unwrap().len(), 1);
    assert_eq!(ended.unkillable, Some(Vec::new()));
}

#[tokio::test]
async fn the_opener_listens_and_connects_inside() {
    let home = Home::new();
    let script = "import socket, sys
for address in (('93.184.216.34', 80), ('127.0.0.1', 81)):
    try: print(socket.create_connection(address, 5).recv(9))
    except OSError as error: print(error.strerror, flush=True)
server = socket.create_server(('127.0.0.1', 8080))
print('listening', flush=True)
server.accept()[0].sendall(b'from inside')
input()";
    let spec = home.jailed(python(&format!("input()\n{script}")));
    let (process, mut stdio) = Process::start(&spec).unwrap();
    let opener = process.opener().unwrap();
    let at: SocketAddr = "93.184.216.34:80".parse().unwrap();
    let listener = opener.listen_tcp(at).unwrap();
    let v6 = opener.listen_tcp("[2606:2800::1]:443".parse().unwrap()).unwrap();
    assert_eq!(v6.local_addr().unwrap().port(), 443);
    let udp = opener.bind_udp("198.18.0.1:53".parse().unwrap()).unwrap();
    assert_eq!(udp.local_addr().unwrap().port(), 53);
    let accepted = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert_eq!(stream.local_addr().unwrap(), at);
        stream.write_all(b"gotcha\n").unwrap();
    });
    soon(tokio::io::AsyncWriteExt::write_all(&mut stdio.stdin, b"\n")).await.unwrap();
    let mut stdout = BufReader::new(stdio.stdout);
    assert_eq!(line(&mut stdout).await, "b'gotcha\\n'");
    accepted.join().unwrap();
    assert_eq!(line(&mut stdout).await, "Connection refused");
    assert_eq!(line(&mut stdout).await, "listening");
    let mut said = String::new();
    let mut stream = opener.connect_tcp("127.0.0.1:8080".parse().unwrap()).unwrap();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "from inside");
    let refused = opener.connect_tcp("127.0.0.1:9".parse().unwrap()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn without_a_network_nothing_but_loopback_can_be_reached() {
    let home = Home::new();
    let script = "import socket
try: socket.create_connection(('93.184.216.34', 80), 5)
except OSError as error: print(error.strerror)";
    let mut spec = home.jailed(python(script));
    spec.jail.as_mut().unwrap().network = Network::Deny;
    assert_eq!(run(&spec).await.1, "Network is unreachable\n");
}

#[tokio::test]
async fn the_given_authority_is_the_one_that_is_trusted() {
    let home = Home::new();
    let mut spec = home.jailed(sh("cat $SSL_CERT_FILE; cat /etc/ssl/certs/ca-certificates.crt"));
    spec.jail.as_mut().unwrap().authority = Some(b"one certificate\n".to_vec());
    assert_eq!(run(&spec).await.1, "one certificate\none certificate\n");
}

#[tokio::test]
async fn twenty_lives_at_once_know_nothing_of_each_other() {
    let home = Home::new();
    let lives: Vec<_> = (0..20)
        .map(|number| {
            let script = format!("ls /tmp; echo {number} > /tmp/mine; cat /tmp/mine; exec cat");
            Process::start(&home.jailed(sh(&script))).unwrap()
        })
        .collect();
    for (number, (process, stdio)) in lives.into_iter().enumerate() {
        assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, number.to_string());
        assert_eq!(effects(&process), [("/tmp/mine".into(), Effect::Created)].into());
    }
}

#[tokio::test]
async fn on_the_second_rung_nothing_but_scratch_can_be_written() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("data"), "as it was\n").unwrap();
    let script = "cat \"$0/data\" ~/.npmrc; echo x > /tmp/a && echo y > ~/b && cat /tmp/a ~/b
        for path in /etc/evil \"$0/data\" /usr/evil; do (echo x > $path) 2>&1 | grep -c 'Read-only'; done";
    let mut spec = home.jailed(sh(script));
    spec.args.push(place.path().into());
    spec.jail.as_mut().unwrap().best = Rung::ReadOnly;
    let (process, stdio) = Process::start(&spec).unwrap();
    assert_eq!(process.confinement().rung, Rung::ReadOnly, "{:?}", process.confinement());
    assert_eq!(process.changes(), None, "nothing keeps them");
    let said = output(stdio.stdout).await;
    assert!(said.starts_with("as it was\n//registry") && said.ends_with("x\ny\n1\n1\n1\n"), "{said}");
    assert!(!home.path().join("b").exists());
}

#[tokio::test]
async fn behind_a_fence_nothing_else_can_be_read_written_or_reached() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("data"), "as it was\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "import os, socket, sys
def tried(act):
    try: return act()
    except OSError as error: return error.strerror
print(tried(lambda: open(sys.argv[1] + '/data').read()))
print(tried(lambda: open(sys.argv[1] + '/data', 'w')))
print(tried(lambda: open('{0}/diary').read()))
print(tried(lambda: open('/etc/evil', 'w')))
print(tried(lambda: open('/tmp/evil', 'w')))
print(tried(lambda: socket.create_connection(('127.0.0.1', {1}))))
print(tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
print(open(os.path.expanduser('~/.npmrc')).read().count('npm_'))
print(tried(lambda: open(os.environ['TMPDIR'] + '/mine', 'w').write('four')))
open('/dev/null', 'w').write('x')",
        home.path().display(),
        listener.local_addr().unwrap().port()
    );
    let mut spec = home.jailed(python(&script));
    spec.args.push(place.path().into());
    spec.jail.as_mut().unwrap().best = Rung::Fence;
    let (process, stdio) = Process::start(&spec).unwrap();
    let confinement = process.confinement();
    assert_eq!(confinement.rung, Rung::Fence, "{confinement:?}");
    let denied = "Permission denied\n";
    let expected = format!("as it was\n\n{}1\n4\n", denied.repeat(6));
    let said = output(stdio.stdout).await;
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&process.stderr().tail));
    assert_eq!(soon(process.exited()).await.status, Status::Exited(0));
    let refuge = confinement.home.unwrap();
    drop(process);
    assert!(!refuge.exists());
}

#[tokio::test]
async fn with_another_home_canaries_lie_there_and_go_with_the_server() {
    let home = Home::new();
    let mut spec = home.jailed(sh("cat ~/.netrc; echo $HOME; exec cat"));
    spec.jail.as_mut().unwrap().best = Rung::OtherHome;
    let (process, stdio) = Process::start(&spec).unwrap();
    let confinement = process.confinement();
    assert_eq!(confinement.rung, Rung::OtherHome, "{confinement:?}");
    drop(stdio.stdin);
    let said = output(stdio.stdout).await;
    let refuge = confinement.home.unwrap();
    assert!(said.starts_with("machine") && said.ends_with(&format!("{}\n", refuge.display())), "{said}");
    soon(process.end(std::time::Duration::ZERO)).await;
    drop(process);
    assert!(!refuge.exists());
}

#[tokio::test]
async fn a_jail_that_cannot_be_built_is_no_secret() {
    let home = Home::new();
    let mut spec = home.jailed(sh("cat ~/diary"));
    spec.jail.as_mut().unwrap().best = Rung::Unconfined;
    let (process, stdio) = Process::start(&spec).unwrap();
    assert_eq!(process.confinement().rung, Rung::Unconfined);
    assert_eq!(output(stdio.stdout).await, "dear diary");
    assert_eq!(process.changes(), None);
    assert!(process.opener().is_none());
}

#[test]
fn what_the_machine_offers_is_tried() {
    let offers = offers();
    assert_eq!(offers.confinement.len(), 5);
    assert!(offers.confinement.iter().all(|offer| offer.refused.is_none()), "{offers:?}");
    assert_eq!(offers.observation.refused, None);
}
