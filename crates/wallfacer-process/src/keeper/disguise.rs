//! What others see of a keeper: its name and its command line. Runs after a fork: no allocation, no locks.
//!
//! In a process namespace the server sees the keeper as process 1. Our own command line must not be there: it would tell
//! where the server is, and may hold secrets that are meant for another.

/// What process 1 is on most machines.
const INIT: &[u8] = b"/sbin/init\0";

/// Which of the numbers of `/proc/self/stat` behind the name are where the command line begins and ends.
const ARGUMENTS_BEGIN: usize = 45;
const ARGUMENTS_END: usize = 46;

/// More than the kernel writes there.
const STAT_BYTES: usize = 1024;

/// Gives the keeper an ordinary name where it is process 1, and its own elsewhere.
///
/// # Safety
/// Runs in a fresh fork, in which nothing reads the arguments of the process any more.
pub(super) unsafe fn dress() {
    // SAFETY: the names are C strings.
    unsafe {
        if libc::getpid() != 1 {
            libc::prctl(libc::PR_SET_NAME, c"wallfacer-keep".as_ptr());
            return;
        }
        libc::prctl(libc::PR_SET_NAME, c"init".as_ptr());
    }
    let Some((begin, end)) = arguments() else { return };
    let length = end.wrapping_sub(begin);
    // SAFETY: the kernel says that the arguments lie there; the memory is a copy of our own, and can be written.
    let bytes = unsafe { std::slice::from_raw_parts_mut(begin as *mut u8, length) };
    for (slot, byte) in bytes.iter_mut().zip(INIT.iter().copied().chain(std::iter::repeat(0))) {
        *slot = byte;
    }
    // Where the last byte is not zero, the kernel takes the line to end at the first one that is.
    if length > INIT.len()
        && let Some(last) = bytes.last_mut()
    {
        *last = b' ';
    }
}

/// From where to where the arguments of this process lie.
fn arguments() -> Option<(usize, usize)> {
    let mut line = [0_u8; STAT_BYTES];
    // SAFETY: the path is a C string, and the buffer as long as the length says.
    let count = unsafe {
        let file = libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let count = libc::read(file, line.as_mut_ptr().cast(), line.len());
        libc::close(file);
        count
    };
    let line = line.get(..usize::try_from(count).ok()?)?;
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let mut numbers = line.get(name_end..)?.split(|&byte| byte == b' ');
    let begin = number(numbers.nth(ARGUMENTS_BEGIN + 1)?)?;
    let end = number(numbers.nth(ARGUMENTS_END - ARGUMENTS_BEGIN - 1)?)?;
    (begin > 0 && end > begin).then_some((begin, end))
}

fn number(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0_usize, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| byte.wrapping_sub(b'0'))?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_found_where_they_are() {
        let (begin, end) = arguments().unwrap();
        // SAFETY: the kernel says that they lie there.
        let bytes = unsafe { std::slice::from_raw_parts(begin as *const u8, end - begin) };
        assert_eq!(bytes, std::fs::read("/proc/self/cmdline").unwrap());
    }
}
