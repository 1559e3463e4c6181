//! Embedding models: local ones, endpoints, and the cache.

mod cached;
mod http;
mod local;
mod tiny;

use std::path::{Path, PathBuf};

use toolkit_search::Embedder;

fn embed(model: &impl Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    model.embed(texts).unwrap()
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embed").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
