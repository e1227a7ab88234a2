//! The messages that make a fresh network namespace one in which every address on earth is local.

/// The address of the jail's one interface, from the range for benchmarks of networks: nobody has it. Without one,
/// resolvers ask for no address of IPv4.
pub(crate) const OWN_ADDRESS: [u8; 4] = [198, 18, 0, 1];

const OWN_PREFIX: u8 = 15;

/// In a fresh namespace, loopback is the one interface there is.
const LOOPBACK: u32 = 1;

const REQUEST_WITH_ANSWER: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
const CREATE: u16 = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;

/// Attributes of routes and addresses, which libc names for some systems only.
const OUTGOING_INTERFACE: u16 = 4;
const ADDRESS: u16 = 1;
const LOCAL_ADDRESS: u16 = 2;

/// Whoever set a route: 4 stands for the administrator.
const BY_ADMINISTRATOR: u8 = 4;

pub(crate) fn loopback_up() -> Vec<u8> {
    let up = (libc::IFF_UP as u32).to_ne_bytes();
    let body = [[0; 4], LOOPBACK.to_ne_bytes(), up, up].concat();
    message(libc::RTM_NEWLINK, 0, &body)
}

pub(crate) fn own_address() -> Vec<u8> {
    let mut body = vec![libc::AF_INET as u8, OWN_PREFIX, 0, 0];
    body.extend(LOOPBACK.to_ne_bytes());
    body.extend(attribute(LOCAL_ADDRESS, OWN_ADDRESS));
    body.extend(attribute(ADDRESS, OWN_ADDRESS));
    message(libc::RTM_NEWADDR, CREATE, &body)
}

/// All addresses of a family are local.
pub(crate) fn everything_local(family: libc::c_int) -> Vec<u8> {
    let mut body = vec![
        family as u8,
        0, // a prefix of no bits: every destination
        0,
        0,
        libc::RT_TABLE_LOCAL,
        BY_ADMINISTRATOR,
        libc::RT_SCOPE_HOST,
        libc::RTN_LOCAL,
    ];
    body.extend(0_u32.to_ne_bytes());
    body.extend(attribute(OUTGOING_INTERFACE, LOOPBACK.to_ne_bytes()));
    message(libc::RTM_NEWROUTE, CREATE, &body)
}

fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags | REQUEST_WITH_ANSWER).to_ne_bytes());
    message.extend([1, 0].map(u32::to_ne_bytes).concat());
    message.extend(body);
    message
}

fn attribute(kind: u16, value: [u8; 4]) -> Vec<u8> {
    let mut attribute = [8_u16, kind].map(u16::to_ne_bytes).concat();
    attribute.extend(value);
    attribute
}
