//! The keeper's children, as the kernel lists them. Runs after a fork: no allocation, no locks.

/// The keeper has one thread, so this lists all its children.
const LIST: &std::ffi::CStr = c"/proc/thread-self/children";

/// Calls `visit` with each child, dead or alive; says whether the list could be read at all. Children that come or
/// go meanwhile may be missed: whoever wants all of them asks again until there are none.
pub(super) fn each(mut visit: impl FnMut(libc::pid_t)) -> bool {
    // SAFETY: the path is a C string.
    let list = unsafe { libc::open(LIST.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if list < 0 {
        return false;
    }
    let mut buffer = [0_u8; 4096];
    let mut number = 0;
    loop {
        // SAFETY: the buffer is as long as the length says.
        let count = unsafe { libc::read(list, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Ok(count @ 1..) = usize::try_from(count) else { break };
        for &byte in buffer.iter().take(count) {
            number = next(number, byte, &mut visit);
        }
    }
    next(number, b' ', &mut visit);
    // SAFETY: the descriptor is ours.
    unsafe { libc::close(list) };
    true
}

/// Reads one more byte of a list of numbers; `visit`s a number when it is complete.
fn next(number: libc::pid_t, byte: u8, visit: &mut impl FnMut(libc::pid_t)) -> libc::pid_t {
    if byte.is_ascii_digit() {
        return number.wrapping_mul(10).wrapping_add(libc::pid_t::from(byte.wrapping_sub(b'0')));
    }
    if number > 0 {
        visit(number);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_byte_by_byte_wherever_the_list_is_cut() {
        let mut seen = Vec::new();
        let rest =
            b"7 1234  99 5".iter().fold(0, |number, &byte| next(number, byte, &mut |pid| seen.push(pid)));
        assert_eq!(seen, [7, 1234, 99]);
        assert_eq!(rest, 5);
    }
}
