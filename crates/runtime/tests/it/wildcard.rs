//! Patterns of names.

use toolkit_runtime::matches_wildcard;

#[test]
fn a_star_stands_for_any_characters_and_all_others_for_themselves() {
    for (pattern, names, others) in [
        ("", &[""][..], &["a"][..]),
        ("read", &["read"], &["", "rea", "reads", "Read", "a read"]),
        ("*", &["", "a", "*"], &[]),
        ("read_*", &["read_", "read_file"], &["read", "a read_file"]),
        ("*_file", &["_file", "read_file"], &["file", "read_files"]),
        ("a*a", &["aa", "aba"], &["a", "ab"]),
        ("a*b*c", &["abc", "aXbXbYc"], &["ac", "acb", "abcX"]),
        ("*b*", &["b", "abc"], &["", "ac"]),
        ("a**b", &["ab", "aXb"], &["a", "b"]),
        ("ab*bc", &["abbc"], &["abc"]),
        ("größe*", &["größe", "größen"], &["große"]),
    ] {
        for name in names {
            assert!(matches_wildcard(pattern, name), "{pattern:?} is {name:?}");
        }
        for name in others {
            assert!(!matches_wildcard(pattern, name), "{pattern:?} is not {name:?}");
        }
    }
}
