//! Random bytes as the file of an index.
//!
//! No file causes a panic while opening or searching. An opened index can be searched, changed and saved, and the saved
//! index returns the same results.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolkit_search::Index;

/// The end of the header of a file.
const HEAD: usize = 32;

const QUESTIONS: [&str; 6] = ["", "send an email", "sned", "re", "the of", "\u{1f980} письмо 検索"];

fuzz_target!(|bytes: &[u8]| {
    // Without a valid header, almost every file is rejected.
    let _ = Index::open("fuzz", bytes);
    let Some(index) = Index::open("fuzz", &forged(bytes)[..]).ok() else { return };
    let snapshot = index.snapshot();
    let all = snapshot.search("", usize::MAX);
    for question in QUESTIONS {
        let hits = snapshot.search(question, usize::MAX);
        assert!(hits.len() <= all.len());
        assert_eq!(snapshot.search(question, 3)[..], hits[..hits.len().min(3)]);
        for hit in hits.iter().take(4) {
            let _ = snapshot.explain(question, &hit.summary.id);
        }
    }
    let mut file = Vec::new();
    snapshot.save("fuzz", &mut file).expect("nothing keeps bytes from growing");
    let again = Index::open("fuzz", &file[..]).expect("what was saved is an index");
    for question in QUESTIONS {
        assert_eq!(again.search(question, 10), snapshot.search(question, 10));
    }
    for hit in &all {
        let id = &hit.summary.id;
        let found = snapshot.get(id).map(|(tool, _)| tool.id().to_string());
        assert!(found.as_ref().is_none_or(|found| found == id));
        index.unregister_tool(id).expect("it was found");
    }
    assert!(index.snapshot().is_empty());
});

/// Prepends the header of a valid file.
fn forged(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    file.resize(bytes.len().max(HEAD), 0);
    file[..8].copy_from_slice(b"toolkidx");
    file[8..12].copy_from_slice(&1_u32.to_le_bytes());
    let rest = file.len() - HEAD;
    let stated = u64::from_le_bytes(file[16..24].try_into().expect("eight bytes"));
    let index = usize::try_from(stated).unwrap_or(rest).min(rest);
    file[16..24].copy_from_slice(&(index as u64).to_le_bytes());
    file[24..32].copy_from_slice(&((rest - index) as u64).to_le_bytes());
    let sum = crc32fast::hash(&file[16..]);
    file[12..16].copy_from_slice(&sum.to_le_bytes());
    file
}
