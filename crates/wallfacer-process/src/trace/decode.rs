//! Reads from the registers and memory of a stopped task what it asks for. Pure over a [`View`], so that any bytes a
//! hostile target can hold may be tried on it; every read is bounded.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::address;
use super::call::{Architecture, Call};
use super::event::{Access, Address, Kind, Location, Message, Program, Socket, Transport};
use super::question::Question;
use super::sockets::Known;

/// No read crosses the end of a page, for the next page may not be there. Where pages are larger this holds too.
pub(super) const PAGE: usize = 4096;

/// The kernel takes no longer path.
const MAX_PATH: usize = 4096;

/// Most paths end within this; the rest is read only when they do not.
const PATH_STEP: usize = 256;

/// Of an attribute or memory file: the kernel takes no longer name.
const MAX_NAME: usize = 256;

/// More than a command line needs; a list of files from a shell pattern may be longer, and is cut.
const MAX_ARGUMENTS: usize = 1024;
const MAX_ARGUMENT_BYTES: usize = 128 * 1024;

/// A DNS question, or the beginning of a request.
const MAX_MESSAGE_BYTES: usize = 512;

/// Resolvers send two at a time.
const MAX_MESSAGES: u64 = 16;

/// The kernel takes no more pieces of one message.
const MAX_PIECES: usize = 1024;

/// Ports on which names are asked for: DNS, and the two for the local network.
const NAME_PORTS: [u16; 3] = [53, 5353, 5355];

/// What of a stopped task can be seen.
pub(super) trait View {
    /// How many bytes from `address` on could be read.
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize;
    /// What a descriptor stands for.
    fn descriptor(&self, number: i32) -> Option<OsString>;
    /// Where paths relative to a descriptor begin.
    fn directory(&self, number: i32) -> Option<OsString>;
    fn socket(&self, number: i32) -> Known;
}

/// A call, about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) architecture: Architecture,
    pub(super) call: Call,
    pub(super) arguments: [u64; 6],
}

impl Asked {
    /// The socket call behind a call for all of sockets.
    pub(super) fn unfold(self, view: &impl View) -> Option<Self> {
        if self.call != Call::AnyOfSockets {
            return Some(self);
        }
        let call = match self.arguments[0] {
            1 => Call::Socket,
            2 => Call::Bind,
            3 => Call::Connect,
            4 => Call::Listen,
            9 | 11 => Call::SendTo,
            16 => Call::SendMessage,
            20 => Call::SendMessages,
            _ => return None,
        };
        let mut arguments = [0; 6];
        // `send` has no address.
        let count = if self.arguments[0] == 9 { 4 } else { 6 };
        for (index, argument) in arguments.iter_mut().take(count).enumerate() {
            let at = self.arguments[1].wrapping_add(4 * index as u64);
            *argument = word(view, at, 4).unwrap_or(0);
        }
        Some(Self { call, arguments, ..self })
    }

    /// `None` for a call that is no event.
    pub(super) fn decode(&self, view: &impl View) -> Option<Kind> {
        let other = || match self.call {
            Call::Execute => Some(self.program(view, libc::AT_FDCWD, 0)),
            Call::ExecuteAt => Some(self.program(view, self.descriptor(0), 1)),
            Call::MemoryFile => {
                let name = text(view, self.arguments[0], MAX_NAME).unwrap_or_default();
                Some(Kind::MemoryFile { name })
            }
            Call::Observed(name) | Call::Forbidden(name) | Call::Absent(name) => Some(Kind::System { name }),
            _ => None,
        };
        self.file(view).or_else(|| self.attribute(view)).or_else(|| self.network(view)).or_else(other)
    }

    /// Whether the last part of each path is followed when it is a link.
    pub(super) fn follows(&self) -> [bool; 2] {
        let has = |index: usize, flag: libc::c_int| self.arguments[index] & flag as u64 != 0;
        let first = match self.call {
            Call::ChangeMode
            | Call::ChangeModeAt
            | Call::ChangeOwner
            | Call::SetAttribute
            | Call::RemoveAttribute
            | Call::Truncate
            | Call::Truncate64
            | Call::Connect
            | Call::Execute => true,
            Call::ChangeModeAt2 => !has(3, libc::AT_SYMLINK_NOFOLLOW),
            Call::ChangeOwnerAt | Call::ExecuteAt => !has(4, libc::AT_SYMLINK_NOFOLLOW),
            Call::SetAttributeAt | Call::RemoveAttributeAt => !has(2, libc::AT_SYMLINK_NOFOLLOW),
            Call::LinkAt => has(4, libc::AT_SYMLINK_FOLLOW),
            _ => false,
        };
        [first, false]
    }

    /// The directory that the path of an `open` is relative to.
    pub(super) fn open_directory(&self) -> i32 {
        match self.call {
            Call::OpenAt | Call::OpenAt2 => self.descriptor(0),
            _ => libc::AT_FDCWD,
        }
    }

    fn file(&self, view: &impl View) -> Option<Kind> {
        let [first, second, third, ..] = self.arguments;
        let here = |index| self.location(view, libc::AT_FDCWD, index);
        let at = |directory, index| self.location(view, self.descriptor(directory), index);
        let open = |asked: u64, flags| Kind::Open {
            // What it is relative to is looked up only if the call fails; else the kernel tells where it led.
            location: Location { asked: text(view, asked, MAX_PATH), ..Location::default() },
            access: access(flags),
        };
        Some(match self.call {
            Call::Open => open(first, second),
            Call::OpenAt => open(second, third),
            Call::OpenAt2 => open(second, word(view, third, 8).unwrap_or(0)),
            Call::Create => open(first, (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64),
            Call::OpenByHandle => Kind::Open { location: Location::default(), access: access(third) },
            Call::Look => Kind::Look { location: here(0) },
            Call::LookAt => Kind::Look { location: at(0, 1) },
            Call::Unlink => Kind::Unlink { location: here(0) },
            Call::UnlinkAt if third & libc::AT_REMOVEDIR as u64 != 0 => {
                Kind::RemoveDirectory { location: at(0, 1) }
            }
            Call::UnlinkAt => Kind::Unlink { location: at(0, 1) },
            Call::RemoveDirectory => Kind::RemoveDirectory { location: here(0) },
            Call::Rename => Kind::Rename { from: here(0), to: here(1) },
            Call::RenameAt | Call::RenameAt2 => Kind::Rename { from: at(0, 1), to: at(2, 3) },
            Call::MakeDirectory => Kind::MakeDirectory { location: here(0) },
            Call::MakeDirectoryAt => Kind::MakeDirectory { location: at(0, 1) },
            Call::Link => Kind::Link { from: here(0), to: here(1) },
            Call::LinkAt => Kind::Link { from: at(0, 1), to: at(2, 3) },
            Call::Symlink => {
                Kind::Symlink { target: text(view, first, MAX_PATH).unwrap_or_default(), location: here(1) }
            }
            Call::SymlinkAt => {
                Kind::Symlink { target: text(view, first, MAX_PATH).unwrap_or_default(), location: at(1, 2) }
            }
            Call::MakeNode => Kind::MakeNode { location: here(0), mode: second as u32 },
            Call::MakeNodeAt => Kind::MakeNode { location: at(0, 1), mode: third as u32 },
            Call::Truncate => Kind::Truncate { location: here(0), length: second },
            Call::Truncate64 => Kind::Truncate { location: here(0), length: second | third << 32 },
            _ => return None,
        })
    }

    fn attribute(&self, view: &impl View) -> Option<Kind> {
        let [_, second, third, fourth, ..] = self.arguments;
        let here = || self.location(view, libc::AT_FDCWD, 0);
        let at = || self.location(view, self.descriptor(0), 1);
        let of = || Location { resolved: view.descriptor(self.descriptor(0)), ..Location::default() };
        let owner =
            |location, user, group| Kind::ChangeOwner { location, user: user as u32, group: group as u32 };
        let named = |location, name| Kind::ChangeAttribute {
            location,
            name: text(view, name, MAX_NAME).unwrap_or_default(),
        };
        Some(match self.call {
            Call::ChangeMode => Kind::ChangeMode { location: here(), mode: second as u32 },
            Call::ChangeModeOf => Kind::ChangeMode { location: of(), mode: second as u32 },
            Call::ChangeModeAt | Call::ChangeModeAt2 => {
                Kind::ChangeMode { location: at(), mode: third as u32 }
            }
            Call::ChangeOwner | Call::ChangeOwnerOfLink => owner(here(), second, third),
            Call::ChangeOwnerOf => owner(of(), second, third),
            Call::ChangeOwnerAt => owner(at(), third, fourth),
            Call::SetAttribute
            | Call::SetAttributeOfLink
            | Call::RemoveAttribute
            | Call::RemoveAttributeOfLink => named(here(), second),
            Call::SetAttributeOf | Call::RemoveAttributeOf => named(of(), second),
            Call::SetAttributeAt | Call::RemoveAttributeAt => named(at(), fourth),
            _ => return None,
        })
    }

    fn network(&self, view: &impl View) -> Option<Kind> {
        let [_, second, third, _, fifth, sixth] = self.arguments;
        let known = || view.socket(self.descriptor(0));
        let send = |known: &Known, messages| Some(Kind::Send { socket: known.socket, messages });
        match self.call {
            Call::Connect => {
                let address = address_at(view, second, third).unwrap_or(Address::Unreadable);
                Some(Kind::Connect { address, peer: None, socket: known().socket })
            }
            Call::Bind => {
                let address = address_at(view, second, third).unwrap_or(Address::Unreadable);
                Some(Kind::Bind { address, socket: known().socket })
            }
            Call::Listen => {
                let known = known();
                Some(Kind::Listen { address: known.bound, socket: known.socket })
            }
            Call::SendTo => {
                let known = known();
                let own = address_at(view, fifth, sixth);
                send(&known, vec![message(view, &known, own, &[(second, third)])])
            }
            Call::SendMessage => {
                let known = known();
                send(&known, vec![self.header(view, &known, second)])
            }
            Call::SendMessages => {
                let known = known();
                let stride = if self.architecture.word() == 4 { 32 } else { 64 };
                let headers = (0..third.min(MAX_MESSAGES)).map(|index| second.wrapping_add(index * stride));
                send(&known, headers.map(|header| self.header(view, &known, header)).collect())
            }
            Call::Write | Call::WriteVector => {
                let known = known();
                if known.socket?.transport != Transport::Datagram {
                    return None;
                }
                let pieces = match self.call {
                    Call::Write => vec![(second, third)],
                    _ => self.pieces(view, second, third),
                };
                send(&known, vec![message(view, &known, None, &pieces)])
            }
            _ => None,
        }
    }

    fn program(&self, view: &impl View, directory: i32, path: usize) -> Kind {
        let location = self.location(view, directory, path);
        let (arguments, cut) = self.words(view, self.arguments[path + 1]);
        Kind::Execute(Program { location, arguments, cut, image: None })
    }

    /// The argument list at `address`; and whether there was more than is kept.
    fn words(&self, view: &impl View, address: u64) -> (Vec<OsString>, bool) {
        let size = self.architecture.word();
        let mut words = Vec::new();
        let mut room = MAX_ARGUMENT_BYTES;
        for index in 0..=MAX_ARGUMENTS {
            let pointer = word(view, address.wrapping_add((index * size) as u64), size);
            let Some(pointer @ 1..) = pointer else { return (words, false) };
            if index == MAX_ARGUMENTS || room == 0 {
                break;
            }
            let text = text(view, pointer, room).unwrap_or_default();
            room -= text.len();
            words.push(text);
        }
        (words, true)
    }

    /// A message by its `msghdr`.
    fn header(&self, view: &impl View, known: &Known, at: u64) -> Message {
        let size = self.architecture.word();
        // Four fields, the second of which is half a word where words are large.
        let mut bytes = [0; 32];
        let read = view.read(at, bytes.get_mut(..4 * size).unwrap_or_default());
        let field = |index: usize, length: usize| {
            bytes.get(..read).and_then(|bytes| bytes.get(index * size..)?.get(..length)).map_or(0, number)
        };
        let [name, name_length, pieces, count] =
            [field(0, size), field(1, 4), field(2, size), field(3, size)];
        let own = address_at(view, name, name_length);
        message(view, known, own, &self.pieces(view, pieces, count))
    }

    /// Where the pieces of a message lie, and how long each is.
    fn pieces(&self, view: &impl View, at: u64, count: u64) -> Vec<(u64, u64)> {
        let size = self.architecture.word();
        let count = usize::try_from(count).unwrap_or(MAX_PIECES).min(MAX_PIECES);
        let mut bytes = vec![0; count * size * 2];
        let read = view.read(at, &mut bytes);
        let whole = bytes.get(..read).unwrap_or_default().chunks_exact(size * 2);
        whole.map(|piece| piece.split_at(size)).map(|(at, length)| (number(at), number(length))).collect()
    }

    fn location(&self, view: &impl View, directory: i32, path: usize) -> Location {
        let asked = text(view, self.arguments[path], MAX_PATH);
        let is_relative = asked.as_ref().is_some_and(|asked| !asked.as_encoded_bytes().starts_with(b"/"));
        let base = if is_relative { view.directory(directory) } else { None };
        Location { asked, base, resolved: None }
    }

    fn descriptor(&self, index: usize) -> i32 {
        self.arguments[index] as i32
    }
}

fn message(view: &impl View, known: &Known, own: Option<Address>, pieces: &[(u64, u64)]) -> Message {
    let mut bytes = Vec::new();
    for &(at, length) in pieces {
        let room = MAX_MESSAGE_BYTES.saturating_sub(bytes.len());
        let mut piece = vec![0; usize::try_from(length).unwrap_or(room).min(room)];
        if piece.is_empty() {
            continue;
        }
        let read = view.read(at, &mut piece);
        bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        if read < piece.len() {
            break;
        }
    }
    let length = pieces.iter().fold(0_u64, |sum, &(_, length)| sum.saturating_add(length));
    let addressed = own.is_some();
    let to = own.or_else(|| known.peer.clone());
    let question = question(&bytes, to.as_ref(), known.socket);
    Message { to, addressed, bytes, length, question }
}

fn question(bytes: &[u8], to: Option<&Address>, socket: Option<Socket>) -> Option<Question> {
    let is_stream = socket.is_some_and(|socket| socket.transport == Transport::Stream);
    match to {
        Some(Address::Inet(to)) if !NAME_PORTS.contains(&to.port()) => None,
        // In a stream the length comes first.
        Some(Address::Inet(_)) if is_stream => Question::parse(bytes.get(2..)?),
        Some(Address::Inet(_)) => Question::parse(bytes),
        // A name service may be asked through a Unix socket, in words of its own: those are no DNS.
        Some(_) => None,
        None if is_stream => None,
        None => Question::parse(bytes),
    }
}

/// `None` when none is given.
fn address_at(view: &impl View, at: u64, length: u64) -> Option<Address> {
    if at == 0 || length == 0 {
        return None;
    }
    let mut bytes = [0; address::MAX_BYTES];
    let length = usize::try_from(length).unwrap_or(address::MAX_BYTES).min(address::MAX_BYTES);
    let read = view.read(at, bytes.get_mut(..length)?);
    let mut parsed = address::parse(bytes.get(..read)?);
    if let Address::Unix(location) = &mut parsed {
        let is_relative =
            location.asked.as_ref().is_some_and(|asked| !asked.as_encoded_bytes().starts_with(b"/"));
        location.base = if is_relative { view.directory(libc::AT_FDCWD) } else { None };
    }
    Some(parsed)
}

/// The bytes up to a zero, at most `limit` of them. `None` when not even the first can be read.
fn text(view: &impl View, address: u64, limit: usize) -> Option<OsString> {
    if address == 0 {
        return None;
    }
    let mut bytes = Vec::new();
    let mut step = [0; PATH_STEP];
    while bytes.len() < limit {
        let at = address.checked_add(bytes.len() as u64)?;
        let to_page_end = PAGE - (at % PAGE as u64) as usize;
        let length = to_page_end.min(PATH_STEP).min(limit - bytes.len());
        let read = view.read(at, step.get_mut(..length)?);
        let piece = step.get(..read)?;
        if let Some(end) = piece.iter().position(|&byte| byte == 0) {
            bytes.extend_from_slice(piece.get(..end)?);
            break;
        }
        bytes.extend_from_slice(piece);
        if read < length {
            // The rest is not there, so the kernel will refuse it too; what there is may tell what was meant.
            return (!bytes.is_empty()).then(|| OsString::from_vec(bytes));
        }
    }
    Some(OsString::from_vec(bytes))
}

fn word(view: &impl View, address: u64, size: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    let bytes = bytes.get_mut(..size)?;
    (view.read(address, bytes) == size).then(|| number(bytes))
}

/// A number of four or eight bytes.
fn number(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    whole.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    u64::from_le_bytes(whole)
}

fn access(flags: u64) -> Access {
    let has = |flag: libc::c_int| flags & flag as u64 == flag as u64;
    let place_only = has(libc::O_PATH);
    let mode = flags & libc::O_ACCMODE as u64;
    let unnamed = has(libc::O_TMPFILE);
    Access {
        read: !place_only && mode != libc::O_WRONLY as u64,
        write: !place_only && mode != libc::O_RDONLY as u64,
        create: !place_only && (has(libc::O_CREAT) || unnamed),
        exclusive: !place_only && has(libc::O_CREAT | libc::O_EXCL),
        truncate: !place_only && has(libc::O_TRUNC),
        directory: has(libc::O_DIRECTORY) && !unnamed,
        place_only,
        flags,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Memory with one text in it.
    struct Page {
        at: u64,
        bytes: Vec<u8>,
    }

    impl View for Page {
        fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
            let Some(offset) = address.checked_sub(self.at).and_then(|offset| usize::try_from(offset).ok())
            else {
                return 0;
            };
            let there = self.bytes.get(offset..).unwrap_or_default();
            let length = there.len().min(buffer.len());
            buffer[..length].copy_from_slice(&there[..length]);
            length
        }

        fn descriptor(&self, number: i32) -> Option<OsString> {
            Some(format!("/descriptor/{number}").into())
        }

        fn directory(&self, number: i32) -> Option<OsString> {
            Some(if number == libc::AT_FDCWD { "/here".into() } else { format!("/at/{number}").into() })
        }

        fn socket(&self, _number: i32) -> Known {
            Known::default()
        }
    }

    /// Memory with anything in it, anywhere, up to an end that comes at any time; counts what is read.
    struct Noise {
        state: Cell<u64>,
        read: Cell<usize>,
    }

    impl Noise {
        fn next(&self) -> u64 {
            let state = self.state.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
            self.state.set(state);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ (mixed >> 27)
        }
    }

    impl View for Noise {
        fn read(&self, _address: u64, buffer: &mut [u8]) -> usize {
            self.read.set(self.read.get() + buffer.len());
            let zeros = self.next().is_multiple_of(3);
            buffer.fill_with(|| if zeros { 0 } else { (self.next() >> 32) as u8 | 1 });
            match self.next() % 4 {
                0 => (self.next() as usize) % (buffer.len() + 1),
                _ => buffer.len(),
            }
        }

        fn descriptor(&self, _number: i32) -> Option<OsString> {
            None
        }

        fn directory(&self, _number: i32) -> Option<OsString> {
            None
        }

        fn socket(&self, _number: i32) -> Known {
            let socket = super::super::sockets::kind(self.next() % 12, self.next() % 8);
            Known { socket: Some(socket), ..Known::default() }
        }
    }

    fn asked(call: Call, arguments: [u64; 6]) -> Asked {
        Asked { architecture: Architecture::X86_64, call, arguments }
    }

    #[test]
    fn any_memory_gives_an_event_or_none_and_little_of_it_is_read() {
        const MOST_READ: usize = 1 << 20;
        let noise = Noise { state: Cell::new(7), read: Cell::new(0) };
        for architecture in [Architecture::X86_64, Architecture::Aarch64, Architecture::I386] {
            for (_, call) in architecture.calls() {
                for _ in 0..40 {
                    let arguments = [(); 6].map(|()| match noise.next() % 4 {
                        0 => noise.next() % 32,
                        1 => u64::MAX - noise.next() % 32,
                        _ => noise.next(),
                    });
                    noise.read.set(0);
                    let asked = Asked { architecture, call, arguments }.unfold(&noise);
                    let _ = asked.and_then(|asked| asked.decode(&noise));
                    assert!(noise.read.get() < MOST_READ, "{call:?} reads {}", noise.read.get());
                }
            }
        }
    }

    #[test]
    fn a_relative_path_is_told_with_where_it_begins_and_an_absolute_one_without() {
        let relative = Page { at: 0x1000, bytes: b"name\0".to_vec() };
        let kind = asked(Call::UnlinkAt, [7, 0x1000, 0, 0, 0, 0]).decode(&relative);
        let Some(Kind::Unlink { location }) = kind else { panic!("{kind:?}") };
        assert_eq!(location.path().to_str(), Some("/at/7/name"));
        let absolute = Page { at: 0x1000, bytes: b"/name\0".to_vec() };
        let kind = asked(Call::Unlink, [0x1000, 0, 0, 0, 0, 0]).decode(&absolute);
        let Some(Kind::Unlink { location }) = kind else { panic!("{kind:?}") };
        assert_eq!((location.base, location.asked), (None, Some("/name".into())));
    }

    #[test]
    fn a_path_without_an_end_is_cut_at_the_longest_that_the_kernel_takes() {
        let endless = Page { at: 0x1000, bytes: vec![b'x'; 3 * MAX_PATH] };
        assert_eq!(text(&endless, 0x1000, MAX_PATH).map(|path| path.len()), Some(MAX_PATH));
        assert_eq!(text(&endless, 0, MAX_PATH), None);
        assert_eq!(text(&endless, u64::MAX, MAX_PATH), None);
    }

    #[test]
    fn too_many_arguments_are_cut_and_that_is_told() {
        let mut bytes = 0x1000_u64.to_le_bytes().repeat(2 * MAX_ARGUMENTS);
        let program = asked(Call::Execute, [0x1000, 0x1000, 0, 0, 0, 0]);
        let kind = program.decode(&Page { at: 0x1000, bytes: bytes.clone() });
        assert!(matches!(&kind, Some(Kind::Execute(program))
            if program.cut && program.arguments.len() == MAX_ARGUMENTS));
        bytes[16..24].fill(0);
        let kind = program.decode(&Page { at: 0x1000, bytes });
        assert!(matches!(&kind, Some(Kind::Execute(program))
            if !program.cut && program.arguments.len() == 2));
    }

    #[test]
    fn what_a_file_may_be_used_for_is_read_from_the_flags() {
        let of = |flags: libc::c_int| access(flags as u64);
        assert!(of(libc::O_RDONLY).read && !of(libc::O_RDONLY).write);
        assert!(of(libc::O_RDWR).read && of(libc::O_RDWR).write);
        assert!(of(libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL).exclusive);
        let unnamed = of(libc::O_TMPFILE | libc::O_RDWR);
        assert!(unnamed.create && unnamed.write && !unnamed.directory);
        let place = of(libc::O_PATH | libc::O_RDWR);
        assert!(place.place_only && !place.read && !place.write);
    }

    #[test]
    fn a_message_in_32_bits_is_read_by_its_own_layout() {
        let mut bytes = Vec::new();
        // A header: name, its length, pieces, how many; then one piece: where, how long; then its bytes.
        for word in [0_u32, 0, 0x1010, 1, 0x1018, 5] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(b"hello");
        let view = Page { at: 0x1000, bytes };
        let sent = Asked {
            architecture: Architecture::I386,
            call: Call::SendMessage,
            arguments: [3, 0x1000, 0, 0, 0, 0],
        };
        let Some(Kind::Send { messages, .. }) = sent.decode(&view) else { panic!("a message") };
        assert_eq!((&messages[0].bytes[..], messages[0].length), (&b"hello"[..], 5));
    }
}
