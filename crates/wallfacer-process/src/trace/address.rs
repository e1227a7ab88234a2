//! Parses the bytes of a socket address. Pure, and any bytes will do.

use std::ffi::OsString;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::unix::ffi::OsStringExt;

use super::event::{Address, Location};

/// The longest address that the kernel takes (`sockaddr_storage`).
pub(super) const MAX_BYTES: usize = 128;

/// A path that fills the whole field needs no zero at its end.
const MAX_UNIX_PATH: usize = 108;

pub(super) fn parse(bytes: &[u8]) -> Address {
    read(bytes).unwrap_or(Address::Unreadable)
}

fn read(bytes: &[u8]) -> Option<Address> {
    let (family, rest) = bytes.split_first_chunk::<2>()?;
    let family = u16::from_ne_bytes(*family);
    Some(match libc::c_int::from(family) {
        libc::AF_UNSPEC => Address::Unspecified,
        libc::AF_INET => {
            let (port, rest) = rest.split_first_chunk::<2>()?;
            let (address, _) = rest.split_first_chunk::<4>()?;
            Address::Inet(SocketAddr::V4(SocketAddrV4::new((*address).into(), u16::from_be_bytes(*port))))
        }
        libc::AF_INET6 => {
            let (port, rest) = rest.split_first_chunk::<2>()?;
            let (flow, rest) = rest.split_first_chunk::<4>()?;
            let (address, rest) = rest.split_first_chunk::<16>()?;
            // The scope may be left out.
            let scope = rest.first_chunk::<4>().map_or(0, |scope| u32::from_ne_bytes(*scope));
            let (port, flow) = (u16::from_be_bytes(*port), u32::from_be_bytes(*flow));
            Address::Inet(SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::from(*address), port, flow, scope)))
        }
        libc::AF_UNIX => unix(rest.get(..MAX_UNIX_PATH).unwrap_or(rest)),
        _ => Address::Other(family),
    })
}

fn unix(path: &[u8]) -> Address {
    match path.split_first() {
        // The kernel gives such a socket a name of its own.
        None => Address::Unspecified,
        Some((0, name)) => Address::Abstract(OsString::from_vec(name.to_vec())),
        Some(_) => {
            let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
            let asked = Some(OsString::from_vec(path.to_vec()));
            Address::Unix(Location { asked, ..Location::default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(family: libc::c_int, rest: &[u8]) -> Address {
        let family = u16::try_from(family).unwrap().to_ne_bytes();
        parse(&[&family[..], rest].concat())
    }

    #[test]
    fn addresses_of_the_internet_are_read() {
        let v4 = address(libc::AF_INET, &[1, 187, 93, 184, 216, 34, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(v4, Address::Inet("93.184.216.34:443".parse().unwrap()));
        let mut v6 = vec![0x1e, 0x61, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8];
        v6.extend([0; 11]);
        v6.push(5);
        assert_eq!(address(libc::AF_INET6, &v6), Address::Inet("[2001:db8::5]:7777".parse().unwrap()));
    }

    #[test]
    fn a_path_ends_at_its_zero_and_an_abstract_name_does_not() {
        let location = Location { asked: Some("/run/a".into()), ..Location::default() };
        assert_eq!(address(libc::AF_UNIX, b"/run/a\0rest"), Address::Unix(location));
        assert_eq!(address(libc::AF_UNIX, b"\0name\0more"), Address::Abstract("name\0more".into()));
        assert_eq!(address(libc::AF_UNIX, b""), Address::Unspecified);
    }

    #[test]
    fn short_addresses_are_unreadable() {
        assert_eq!(parse(&[]), Address::Unreadable);
        assert_eq!(parse(&[2]), Address::Unreadable);
        assert_eq!(address(libc::AF_INET, &[0, 80, 127, 0, 0]), Address::Unreadable);
        assert_eq!(address(libc::AF_INET6, &[0; 21]), Address::Unreadable);
    }
}
