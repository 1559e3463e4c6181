//! Parsing of responses.

use serde::Deserialize;
use serde_json::Value;

/// A response of either API: `data` in OpenAI's, `embeddings` in Ollama's.
#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Option<Vec<Item>>,
    embeddings: Option<Vec<Vec<f32>>>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses one vector for each text, in order. Errors do not contain any part of the response.
pub(super) fn vectors(body: &[u8], n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let response: EmbeddingsResponse = serde_json::from_slice(body).map_err(|error| {
        format!(
            "the response does not contain embeddings: error at line {} and column {}",
            error.line(),
            error.column()
        )
    })?;
    let vectors: Vec<Vec<f32>> = match (response.data, response.embeddings) {
        (Some(mut items), _) => {
            items.sort_by_key(|item| item.index);
            let is_in_order = items.iter().enumerate().all(|(nth, item)| item.index.is_none_or(|index| index == nth));
            if !is_in_order {
                return Err("the indexes in the response are not those of the texts".to_owned());
            }
            items.into_iter().map(|item| item.embedding).collect()
        }
        (None, Some(vectors)) => vectors,
        (None, None) => return Err("the response has neither `data` nor `embeddings`".to_owned()),
    };
    if vectors.len() != n_texts {
        return Err(format!("the response has {} vectors for {n_texts} texts", vectors.len()));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err("the vectors in the response are empty or have different lengths".to_owned());
    }
    Ok(vectors)
}

/// Returns the message of an error response: `error.message`, or `error` itself.
pub(super) fn message(body: &[u8]) -> Option<String> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let error = response.get("error")?;
    let text = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(text.to_owned())
}
