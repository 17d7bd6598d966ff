//! NumPy's `.npy` arrays and `.npz` archives. Little-endian doubles; archives are not compressed.

use std::io::{self, Write};

/// The bytes of a `.npy` array: `descr` as NumPy writes types, and the numbers row by row.
pub(super) fn npy(descr: &str, shape: &[usize], numbers: &[f64]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape = if sides.len() == 1 { format!("({},)", sides[0]) } else { format!("({})", sides.join(", ")) };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    // version 2.0: the magic, the version, a length of four bytes; all together a multiple of 64
    let used = 12 + header.len() + 1;
    header.push_str(&" ".repeat(used.next_multiple_of(64) - used));
    header.push('\n');
    let mut out = b"\x93NUMPY\x02\x00".to_vec();
    out.extend((header.len() as u32).to_le_bytes());
    out.extend(header.bytes());
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    out
}

/// The type of a row of named doubles.
pub(super) fn named_doubles(names: &[String]) -> String {
    let fields: Vec<String> = names.iter().map(|name| format!("('{}', '<f8')", escaped(name))).collect();
    format!("[{}]", fields.join(", "))
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\'', "\\'")
}

/// An archive of named files, stored as they are.
pub(super) fn write_zip(out: &mut impl Write, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let too_large = || io::Error::other("an array has more than 4 GB; write .npy or .csv, or choose less");
    let (mut directory, mut at) = (Vec::new(), 0_u32);
    for (name, bytes) in files {
        let size = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        // version 2.0, names in UTF-8, no compression, no time
        let mut entry = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
        entry.extend(crc32fast::hash(bytes).to_le_bytes());
        entry.extend(size.to_le_bytes());
        entry.extend(size.to_le_bytes());
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&entry);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
        out.write_all(b"PK\x03\x04")?;
        out.write_all(&entry)?;
        out.write_all(name.as_bytes())?;
        out.write_all(bytes)?;
        let written = size.checked_add((4 + entry.len() + name.len()) as u32);
        at = written.and_then(|n| at.checked_add(n)).ok_or_else(too_large)?;
    }
    let n = u16::try_from(files.len())
        .map_err(|_| io::Error::other("more than 65,535 arrays; write .npy or .csv, or choose less"))?;
    out.write_all(&directory)?;
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    out.write_all(&n.to_le_bytes())?;
    out.write_all(&n.to_le_bytes())?;
    out.write_all(&(directory.len() as u32).to_le_bytes())?;
    out.write_all(&at.to_le_bytes())?;
    out.write_all(&[0, 0])
}
