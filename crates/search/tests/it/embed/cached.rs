//! Cached vectors.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use toolkit_search::embed::{CacheError, Cached};
use toolkit_search::{Embedder, EmbedderError};

use super::{embed, folder};

/// An embedder that counts the texts.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Embedder for Counting {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| vec![text.len() as f32, -0.5]).collect())
    }
}

#[test]
fn only_new_texts_are_embedded() {
    let (path, counting) = (folder("kept").join("vectors"), Counting::default());
    let cached = Cached::open(&counting, "m", &path).unwrap();
    let first = embed(&cached, &["one", "three"]);
    assert_eq!(embed(&cached, &["three", "fourth", "one"]), [first[1].clone(), vec![6.0, -0.5], first[0].clone()]);
    assert_eq!((cached.len(), counting.0.load(Ordering::Relaxed)), (3, 3));
    cached.save().unwrap();

    let again = Cached::open(&counting, "m", &path).unwrap();
    assert_eq!(embed(&again, &["one", "three"]), first);
    assert_eq!(counting.0.load(Ordering::Relaxed), 3);
    again.save().unwrap();
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside the file");
}

#[test]
fn a_repeated_text_is_embedded_once() {
    let counting = Counting::default();
    let cached = Cached::open(&counting, "m", folder("twice").join("vectors")).unwrap();
    assert_eq!(embed(&cached, &["one", "three", "one"]), [[3.0, -0.5], [5.0, -0.5], [3.0, -0.5]]);
    assert_eq!((cached.len(), counting.0.load(Ordering::Relaxed)), (2, 2));
}

#[test]
fn concurrent_saves_leave_a_complete_file() {
    let (path, counting) = (folder("race").join("vectors"), Counting::default());
    let caches = [1, 200].map(|n_texts| {
        let cached = Cached::open(&counting, "m", &path).unwrap();
        let texts: Vec<String> = (0..n_texts).map(|nth: usize| nth.to_string()).collect();
        embed(&cached, &texts.iter().map(|text| &**text).collect::<Vec<_>>());
        cached
    });
    thread::scope(|scope| {
        for cached in &caches {
            scope.spawn(|| (0..100).for_each(|_| cached.save().unwrap()));
        }
    });
    assert!([1, 200].contains(&Cached::open(&counting, "m", &path).unwrap().len()));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside the file");
}

#[test]
fn vectors_of_another_model_are_an_error() {
    let (path, counting) = (folder("other").join("vectors"), Counting::default());
    let cached = Cached::open(&counting, "small", &path).unwrap();
    embed(&cached, &["one"]);
    cached.save().unwrap();
    let error = Cached::open(&counting, "large", &path).unwrap_err();
    assert!(matches!(&error, CacheError::OtherModel { found, .. } if found == "small"));
    assert!(error.to_string().ends_with("the vectors are of the model `small`; delete the file or use another one"));
}

#[test]
fn every_changed_byte_of_the_file_is_detected() {
    let (path, counting) = (folder("damaged").join("vectors"), Counting::default());
    let cached = Cached::open(&counting, "m", &path).unwrap();
    embed(&cached, &["one", "two"]);
    cached.save().unwrap();
    let sound = fs::read(&path).unwrap();
    let mut spoilt: Vec<Vec<u8>> = (0..sound.len()).map(|at| sound[..at].to_vec()).collect();
    spoilt.extend((0..sound.len()).map(|at| {
        let mut changed = sound.clone();
        changed[at] ^= 1;
        changed
    }));
    for bytes in spoilt {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(Cached::open(&counting, "m", &path), Err(CacheError::Damaged { .. })));
    }
    fs::write(&path, sound).unwrap();
    assert_eq!(Cached::open(&counting, "m", &path).unwrap().len(), 2);
}

/// An embedder that returns one vector too few.
struct Lazy;

impl Embedder for Lazy {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        Ok(vec![vec![1.0]; texts.len() - 1])
    }
}

#[test]
fn a_missing_vector_is_an_error() {
    let cached = Cached::open(Lazy, "m", folder("lazy").join("vectors")).unwrap();
    assert_eq!(cached.embed(&["a", "b"]).unwrap_err().to_string(), "the embedder returned 1 vectors for 2 texts");
    assert!(cached.is_empty());
}

#[test]
fn a_vector_beyond_the_maximum_number_removes_all_others() {
    let counting = Counting::default();
    let cached = Cached::open(&counting, "m", folder("full").join("vectors")).unwrap();
    let texts: Vec<String> = (0..Cached::<Counting>::CAPACITY).map(|nth| nth.to_string()).collect();
    embed(&cached, &texts.iter().map(|text| &**text).collect::<Vec<_>>());
    assert_eq!(cached.len(), Cached::<Counting>::CAPACITY);
    assert_eq!(embed(&cached, &["0", "one more"]), [[1.0, -0.5], [8.0, -0.5]]);
    assert_eq!(cached.len(), 1);
}
