//! What an endpoint answers.

use serde::Deserialize;
use serde_json::Value;

/// Both forms at once: `data` is OpenAI's, `embeddings` Ollama's.
#[derive(Deserialize)]
struct Answer {
    data: Option<Vec<Item>>,
    embeddings: Option<Vec<Vec<f32>>>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// One vector for each of the texts, in their order. What is wrong with it is said without a word of it.
pub(super) fn vectors(body: &[u8], n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        format!("its answer is not one of embeddings, at line {} and column {}", error.line(), error.column())
    })?;
    let vectors: Vec<Vec<f32>> = match (answer.data, answer.embeddings) {
        (Some(mut items), _) => {
            items.sort_by_key(|item| item.index);
            let is_in_order = items.iter().enumerate().all(|(nth, item)| item.index.is_none_or(|index| index == nth));
            if !is_in_order {
                return Err("its answer does not say which vector is of which text".to_owned());
            }
            items.into_iter().map(|item| item.embedding).collect()
        }
        (None, Some(vectors)) => vectors,
        (None, None) => return Err("its answer has neither `data` nor `embeddings`".to_owned()),
    };
    if vectors.len() != n_texts {
        return Err(format!("it made {} vectors of {n_texts} texts", vectors.len()));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err("its vectors have different lengths, or none".to_owned());
    }
    Ok(vectors)
}

/// What an endpoint says of an error, as it says it: `error.message`, or `error` itself.
pub(super) fn message(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let error = answer.get("error")?;
    let text = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(text.to_owned())
}
