//! Makes small archives that unpack to many zeros. One is harmless where unpacking has a limit; where it has none it
//! costs the memory of the sandbox, for a moment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// What one pair of codes stands for: a copy of the byte before, as long as copies get.
const COPY: u32 = 258;
/// What the archives unpack to, each twice as much as the one before, and the checksums of so many zeros.
pub const SIZES: [Size; 4] = [
    Size { copies: 65_027, checksum: 0xd768_9fd5 },
    Size { copies: 130_055, checksum: 0x0127_b253 },
    Size { copies: 260_110, checksum: 0xb4c7_200e },
    Size { copies: 520_220, checksum: 0x4a0c_1d61 },
];

/// How much an archive unpacks to.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Copies of the first zero, 258 at a time.
    copies: u32,
    checksum: u32,
}

impl Size {
    fn bytes(self) -> u32 {
        1 + self.copies * COPY
    }
}

/// As `gzip` writes it, in base64.
pub fn gzip(size: Size) -> String {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let tail = [size.checksum.to_le_bytes(), size.bytes().to_le_bytes()];
    BASE64.encode([&head[..], &deflated(size), tail.as_flattened()].concat())
}

/// As `zip` writes it, with one file, in base64.
pub fn zip(size: Size) -> String {
    let name = b"a.txt";
    let packed = deflated(size);
    let length = u32::try_from(packed.len()).unwrap_or(u32::MAX);
    // Versions, flags, method, time and date; then checksum, both sizes and the length of the name.
    let about = [
        &[20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0][..],
        &size.checksum.to_le_bytes(),
        &length.to_le_bytes(),
        &size.bytes().to_le_bytes(),
        &[5, 0, 0, 0],
    ]
    .concat();
    let entry = [&b"PK\x03\x04"[..], &about, name, &packed].concat();
    let listed = [&b"PK\x01\x02\x14\x00"[..], &about, &[0; 14], name].concat();
    let place = u32::try_from(entry.len()).unwrap_or(u32::MAX).to_le_bytes();
    let listing = u32::try_from(listed.len()).unwrap_or(u32::MAX).to_le_bytes();
    let end = [&b"PK\x05\x06"[..], &[0, 0, 0, 0, 1, 0, 1, 0], &listing, &place, &[0, 0]].concat();
    BASE64.encode([entry, listed, end].concat())
}

/// One block with codes of its own: a zero, and copies of it, two bits each.
fn deflated(size: Size) -> Vec<u8> {
    // The lengths of the codes for the lengths of codes, in the order of the format: 18, 2 and 1 have one.
    const LENGTHS: [u32; 18] = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2];
    let mut bits = Bits::default();
    // The last block; codes of its own; 286 of them, one for distances, and 18 of those lengths.
    for (value, count) in [(1, 1), (2, 2), (29, 5), (0, 5), (14, 4)] {
        bits.number(value, count);
    }
    for length in LENGTHS {
        bits.number(length, 3);
    }
    // Two bits for a zero, none for the 255 bytes after it, two for the end, none for 28, one for a copy, one for its
    // distance. A run of none is a 0 and its length less eleven.
    bits.code("11");
    bits.run(138);
    bits.run(117);
    bits.code("11");
    bits.run(28);
    bits.code("10");
    bits.code("10");
    bits.code("10");
    for _ in 0..size.copies {
        bits.code("00");
    }
    bits.code("11");
    bits.bytes
}

/// Bits, from the lowest of each byte on.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn bit(&mut self, bit: u32) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        let shifted = u8::from(bit & 1 == 1) << (self.used % 8);
        if let Some(last) = self.bytes.last_mut() {
            *last |= shifted;
        }
        self.used += 1;
    }

    /// Its lowest bit first.
    fn number(&mut self, value: u32, count: u32) {
        (0..count).for_each(|place| self.bit(value >> place));
    }

    /// As it is written.
    fn code(&mut self, code: &str) {
        code.bytes().for_each(|letter| self.bit(u32::from(letter == b'1')));
    }

    fn run(&mut self, length: u32) {
        self.bit(0);
        self.number(length - 11, 7);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unpacked once by hand with the programs of others, which found all zeros and the right checksums.
    #[test]
    fn the_archives_are_those_that_other_programs_unpack() {
        let digest = |text: String| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        let archives = SIZES.map(|size| [digest(gzip(size)), digest(zip(size))]);
        insta::assert_debug_snapshot!(archives);
    }

    #[test]
    fn each_unpacks_to_twice_as_much_and_a_thousand_times_what_is_sent() {
        for pair in SIZES.windows(2) {
            assert!(pair[1].bytes().abs_diff(2 * pair[0].bytes()) < 2 * COPY);
        }
        for size in SIZES {
            assert!(gzip(size).len() * 700 < size.bytes() as usize);
        }
    }
}
