//! A model that is small enough to be created by a test.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

const WIDTH: usize = 4;
const INNER: usize = 8;
const PIECES: [&str; 9] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "send", "##s", "mail", "a", "."];

pub(crate) fn config() -> Value {
    json!({
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "max_position_embeddings": 16,
        "type_vocab_size": 2,
        "vocab_size": PIECES.len(),
        "layer_norm_eps": 1e-12,
    })
}

pub(crate) fn tokenizer() -> Value {
    let vocab: Map<String, Value> = PIECES.iter().enumerate().map(|(at, piece)| ((*piece).into(), at.into())).collect();
    json!({
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": true,
            "strip_accents": null,
            "lowercase": true,
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    })
}

/// Returns the names and shapes of the weights.
pub(crate) fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![PIECES.len(), WIDTH]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, WIDTH]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![WIDTH]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![WIDTH]),
    ];
    let mut layer = |name: &str, weight: &[usize]| {
        shapes.push((format!("encoder.layer.0.{name}.weight"), weight.to_vec()));
        shapes.push((format!("encoder.layer.0.{name}.bias"), weight[..1].to_vec()));
    };
    for name in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
        layer(name, &[WIDTH, WIDTH]);
    }
    layer("attention.output.LayerNorm", &[WIDTH]);
    layer("intermediate.dense", &[INNER, WIDTH]);
    layer("output.dense", &[WIDTH, INNER]);
    layer("output.LayerNorm", &[WIDTH]);
    shapes
}

/// Serializes the weights in the safetensors format.
pub(crate) fn weights(shapes: &[(String, Vec<usize>)]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::<u8>::new());
    for (nth, (name, shape)) in shapes.iter().enumerate() {
        let start = data.len();
        let numbers = (0..shape.iter().product::<usize>()).map(|at| ((at * 7 + nth * 13) as f32).sin());
        data.extend(numbers.flat_map(f32::to_le_bytes));
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] });
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// Writes the files of the model.
pub(crate) fn write(folder: &Path) {
    fs::write(folder.join("config.json"), config().to_string()).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    fs::write(folder.join("model.safetensors"), weights(&shapes())).unwrap();
}
