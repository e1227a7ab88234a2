//! Makes small archives that unpack to many zeros. One is harmless where unpacking has a limit; where it has none it
//! costs the memory of the sandbox, for a moment.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::{Compress, Compression, Crc, FlushCompress};

/// Zeros that are packed once; an archive holds the packed piece many times over, so that making a large one costs no
/// more than making a small one.
const PIECE_BYTES: u32 = 1 << 20;
/// What the archives unpack to, each twice as much as the one before.
pub const SIZES: [Size; 4] =
    [Size { pieces: 16 }, Size { pieces: 32 }, Size { pieces: 64 }, Size { pieces: 128 }];

/// The end of a deflated stream: one more block, the last, with nothing in it.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// How much an archive unpacks to.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pieces: u32,
}

/// [`PIECE_BYTES`] zeros, deflated so that it can stand behind any other piece, and their checksum.
static PIECE: LazyLock<(Vec<u8>, Crc)> = LazyLock::new(|| {
    let zeros = vec![0; PIECE_BYTES as usize];
    let mut checksum = Crc::new();
    checksum.update(&zeros);
    // Zeros pack a thousand to one, so there is room enough for all of them.
    let mut packed = Vec::with_capacity(zeros.len() / 100);
    // A full flush ends the piece at a byte, with nothing in it that refers to what came before.
    let flush = FlushCompress::Full;
    Compress::new(Compression::best(), false).compress_vec(&zeros, &mut packed, flush).ok();
    (packed, checksum)
});

impl Size {
    fn bytes(self) -> u32 {
        self.pieces * PIECE_BYTES
    }

    fn deflated(self) -> Vec<u8> {
        let mut packed = PIECE.0.repeat(self.pieces as usize);
        packed.extend(LAST_BLOCK);
        packed
    }

    fn checksum(self) -> u32 {
        let mut checksum = Crc::new();
        (0..self.pieces).for_each(|_| checksum.combine(&PIECE.1));
        checksum.sum()
    }
}

/// As `gzip` writes it, in base64.
pub fn gzip(size: Size) -> String {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let tail = [size.checksum().to_le_bytes(), size.bytes().to_le_bytes()];
    BASE64.encode([&head[..], &size.deflated(), tail.as_flattened()].concat())
}

/// As `zip` writes it, with one file, in base64.
pub fn zip(size: Size) -> String {
    let name = b"a.txt";
    let packed = size.deflated();
    let length = u32::try_from(packed.len()).unwrap_or(u32::MAX);
    // Versions, flags, method, time and date; then checksum, both sizes and the length of the name.
    let about = [
        &[20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0][..],
        &size.checksum().to_le_bytes(),
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

/// A zip archive with one small file under each of these names, which may lead out of where it is unpacked.
pub fn leading_out(names: &[String], content: &str) -> Vec<u8> {
    let mut checksum = Crc::new();
    checksum.update(content.as_bytes());
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let (mut entries, mut listed) = (Vec::new(), Vec::new());
    for name in names {
        let length = number(content.len());
        let named = [number(name.len())[0], number(name.len())[1], 0, 0];
        // Versions, flags, no compression, time and date; then checksum, both sizes and the length of the name.
        let begin = [20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        let about = [&begin[..], &checksum.sum().to_le_bytes(), &length, &length, &named].concat();
        let place = number(entries.len());
        listed.extend([&b"PK\x01\x02\x14\x00"[..], &about, &[0; 10], &place, name.as_bytes()].concat());
        entries.extend([&b"PK\x03\x04"[..], &about, name.as_bytes(), content.as_bytes()].concat());
    }
    let count = [number(names.len())[0], 0];
    let (listing, place) = (number(listed.len()), number(entries.len()));
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &listing, &place, &[0, 0]].concat();
    [entries, listed, end].concat()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::*;

    /// How many zeros come out; anything else does not count.
    fn zeros(mut unpacked: impl Read) -> io::Result<usize> {
        let mut buffer = vec![1; 1 << 16];
        let mut count = 0;
        loop {
            match unpacked.read(&mut buffer)? {
                0 => return Ok(count),
                length => count += buffer[..length].iter().filter(|byte| **byte == 0).count(),
            }
        }
    }

    #[test]
    fn a_packed_file_unpacks_to_so_many_zeros_with_the_right_checksum() {
        for size in &SIZES[..2] {
            let packed = BASE64.decode(gzip(*size)).unwrap();
            // The decoder refuses a wrong checksum or length.
            assert_eq!(zeros(flate2::read::GzDecoder::new(&packed[..])).unwrap(), size.bytes() as usize);
        }
    }

    #[test]
    fn the_file_of_an_archive_is_the_same_and_stands_where_its_list_says() {
        let archive = BASE64.decode(zip(SIZES[0])).unwrap();
        let number = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
        let (length, file) = (number(18), 30 + b"a.txt".len());
        assert_eq!(&archive[file..file + length], SIZES[0].deflated());
        let end = archive.len() - 22;
        assert_eq!(number(end + 16), file + length);
        assert_eq!(&archive[file + length..][..4], b"PK\x01\x02");
        assert_eq!(number(14), SIZES[0].checksum() as usize);
    }

    #[test]
    fn each_unpacks_to_twice_as_much_and_a_thousand_times_what_is_sent() {
        assert!(SIZES.windows(2).all(|pair| pair[1].bytes() == 2 * pair[0].bytes()));
        for size in SIZES {
            assert!(gzip(size).len() * 700 < size.bytes() as usize, "{}", gzip(size).len());
        }
    }
}
