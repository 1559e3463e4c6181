//! Texts that others store.

use toolkit_runtime::SealingKey;

#[test]
fn a_sealed_text_is_opened_with_its_key_for_its_context_only() {
    let key = SealingKey::derive(b"purpose\0", b"secret");
    let sealed = key.seal(b"content", b"context").unwrap();
    assert_eq!(key.open(&sealed, b"context").as_deref(), Some(&b"content"[..]));
    assert_eq!(key.open(&sealed, b"other"), None);
    for (purpose, secret) in [(b"purpose\0", b"Secret"), (b"Purpose\0", b"secret")] {
        assert_eq!(SealingKey::derive(purpose, secret).open(&sealed, b"context"), None);
    }
    assert_eq!(SealingKey::derive(b"purpose\0", b"secret").open(&sealed, b"context"), Some(b"content".to_vec()));
    for changed in ["", "AAAA", "=", &sealed[1..], &sealed[..sealed.len() - 2], &format!("{sealed}AAAA")] {
        assert_eq!(key.open(changed, b"context"), None, "{changed}");
    }
    let mut changed = sealed.clone().into_bytes();
    changed[0] = if changed[0] == b'A' { b'B' } else { b'A' };
    assert_eq!(key.open(std::str::from_utf8(&changed).unwrap(), b"context"), None);
    // Equal contents cannot be recognized.
    assert_ne!(key.seal(b"content", b"context").unwrap(), sealed);
    assert_eq!(SealingKey::MIN_SECRET, 32);
}
