//! The smallest valid files of some kinds.

use super::Mark;

pub(super) fn svg(mark: Mark<'_>) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\" viewBox=\"0 0 8 8\"><title>{}</title>\
         <rect width=\"8\" height=\"8\"/></svg>\n",
        mark.marker
    )
}

/// One pixel.
pub(super) fn png() -> Vec<u8> {
    bytes(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63606060f80f00010401\
         0080bbd15b0000000049454e44ae426082",
    )
}

pub(super) fn gif() -> Vec<u8> {
    bytes("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")
}

pub(super) fn jpeg() -> Vec<u8> {
    bytes(
        "ffd8ffe000104a46494600010101004800480000ffdb00430003020202020203020202030303030406040404040408060605060908\
         0a0a090809090a0c0f0c0a0b0e0b09090d110d0e0f101011100a0c12131210130f101010ffc9000b080001000101011100ffcc0006\
         0010100501ffda0008010100003f00d2cf20ffd9",
    )
}

pub(super) fn webp() -> Vec<u8> {
    bytes("524946461a000000574542505650384c0d0000002f00000010071011118888fe0700")
}

/// One page with a line of text.
pub(super) fn pdf(mark: Mark<'_>) -> Vec<u8> {
    let line = format!("BT /F1 12 Tf 20 100 Td (An example, revision {}) Tj ET", mark.marker);
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{line}\nendstream", line.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    places.iter().for_each(|place| file.push_str(&format!("{place:010} 00000 n \n")));
    let size = objects.len() + 1;
    file.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    file.into_bytes()
}

/// One text, not compressed.
pub(super) fn zip(mark: Mark<'_>) -> Vec<u8> {
    let name = b"example.txt";
    let content = format!("An example, revision {}\n", mark.marker).into_bytes();
    let (check, size) = (checksum(&content), content.len() as u32);
    let mut common = Vec::new();
    for number in [20_u16, 0, 0, 0, 0x5a2f] {
        common.extend(number.to_le_bytes());
    }
    for number in [check, size, size] {
        common.extend(number.to_le_bytes());
    }
    common.extend((name.len() as u16).to_le_bytes());
    common.extend(0_u16.to_le_bytes());
    let mut file = [b"PK\x03\x04", &common[..], name, &content[..]].concat();
    let table = file.len() as u32;
    let mut entry = [b"PK\x01\x02", &20_u16.to_le_bytes()[..], &common[..]].concat();
    entry.extend([0_u8; 14]);
    entry.extend(name);
    let length = entry.len() as u32;
    file.extend(entry);
    file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend(length.to_le_bytes());
    file.extend(table.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// CRC-32, as archives have it.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
    digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_what_they_say() {
        let mark = Mark { marker: "mark" };
        for (file, beginning) in [
            (png(), &b"\x89PNG"[..]),
            (gif(), b"GIF89a"),
            (jpeg(), b"\xff\xd8\xff"),
            (webp(), b"RIFF"),
            (pdf(mark), b"%PDF-"),
            (zip(mark), b"PK\x03\x04"),
        ] {
            assert!(file.starts_with(beginning) && file.len() > 20, "{file:?}");
        }
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
