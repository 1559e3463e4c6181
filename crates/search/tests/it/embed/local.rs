//! Models in this process.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{ran, skipped};
use toolkit_search::embed::{LocalModel, ModelError};
use toolkit_search::{Index, Semantic};

use super::{embed, folder, tiny};

/// The output of `reference.py` in this folder, which shares no code with the crate.
const REFERENCE: &str = include_str!("../../cases/embeddings.json");

/// The folder of all-MiniLM-L6-v2: `TOOLKIT_MODEL`, or where `benches/model` downloads it.
fn mini_lm() -> Option<LocalModel> {
    let fetched = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("../models/all-MiniLM-L6-v2");
    let folder = std::env::var_os("TOOLKIT_MODEL").map_or_else(fetched, PathBuf::from);
    folder.exists().then(|| LocalModel::open(folder).unwrap())
}

#[test]
fn vectors_match_the_reference() {
    let cases: Vec<Value> = serde_json::from_str(REFERENCE).unwrap();
    let Some(model) = mini_lm() else {
        return skipped(cases.len());
    };
    let texts: Vec<&str> = cases.iter().map(|case| case["text"].as_str().unwrap()).collect();
    assert_eq!(model.dimensions(), 384);
    for (case, vector) in cases.iter().zip(embed(&model, &texts)) {
        let expected: Vec<f32> = serde_json::from_value(case["vector"].clone()).unwrap();
        let worst = expected.iter().zip(&vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(vector.len() == expected.len() && worst < 1e-5, "{worst} at {}", case["text"]);
    }
    ran(cases.len());
}

#[test]
fn a_tool_is_found_by_meaning() {
    let Some(model) = mini_lm() else {
        return skipped(1);
    };
    let tools = [("send_mail", "Sends a letter."), ("forecast", "Tells whether it rains.")];
    let tools = tools.map(|(name, text)| toolkit::Tool::builder(name).description(text).build().unwrap());
    let (index, semantic) = (Index::from_tools(&tools), Semantic::new(model));
    semantic.update(&index.snapshot()).unwrap();
    let hits = semantic.search(&index.snapshot(), "do I need an umbrella", Default::default(), 1).unwrap();
    assert_eq!(hits[0].summary.id, "forecast");
    ran(1);
}

#[test]
fn a_model_is_loaded_from_its_folder() {
    let folder = folder("whole");
    tiny::write(&folder);
    let model = LocalModel::open(&folder).unwrap();
    let vectors = embed(&model, &["sends a mail.", "Sends  A\tMAIL .", "a mail", "\u{301}séndś a mail."]);
    assert_eq!((model.dimensions(), vectors[0].len()), (4, 4));
    assert!((vectors[0].iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
    assert_eq!(vectors[0], vectors[1]);
    assert_ne!(vectors[0], vectors[2]);
    assert_eq!(vectors[0], vectors[3]);
}

/// The vectors of the small model, which a program of a few lines of Python has computed from the definition of BERT.
#[test]
fn vectors_of_a_small_model_match_the_definition_of_the_architecture() {
    let folder = folder("defined");
    tiny::write(&folder);
    let check = |texts: [(&str, [f32; 4]); 3]| {
        let model = LocalModel::open(&folder).unwrap();
        for (text, expected) in texts {
            let vector = embed(&model, &[text]).remove(0);
            let worst = expected.iter().zip(&vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{text:?}: {vector:?}");
        }
    };
    check([
        ("sends a mail.", [0.572_414, 0.328_444, -0.690_991, 0.294_957]),
        ("send", [0.627_024, 0.299_781, -0.651_576, 0.304_009]),
        ("", [0.534_868, 0.345_319, -0.718_321, 0.280_511]),
    ]);
    fs::create_dir(folder.join("1_Pooling")).unwrap();
    let first = json!({ "pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true }).to_string();
    fs::write(folder.join("1_Pooling/config.json"), first).unwrap();
    check([
        ("sends a mail.", [0.661_212, 0.279_429, -0.624_72, 0.307_317]),
        ("send", [0.675_748, 0.272_412, -0.612_055, 0.307_482]),
        ("", [0.644_969, 0.286_764, -0.638_597, 0.306_555]),
    ]);
}

#[test]
fn a_vector_does_not_depend_on_the_batch() {
    let folder = folder("batches");
    tiny::write(&folder);
    let model = LocalModel::open(&folder).unwrap();
    let texts = ["a", "send mail", "", "sends sends a mail.", "a . a"];
    let apart: Vec<Vec<f32>> = texts.iter().flat_map(|text| embed(&model, &[text])).collect();
    assert_eq!(embed(&model, &texts), apart);
    assert!(embed(&model, &[]).is_empty());
}

#[test]
fn first_token_pooling_is_supported() {
    let folder = folder("pooling");
    tiny::write(&folder);
    let mean = embed(&LocalModel::open(&folder).unwrap(), &["send a mail"]);
    fs::create_dir(folder.join("1_Pooling")).unwrap();
    let write = |pools: Value| fs::write(folder.join("1_Pooling/config.json"), pools.to_string()).unwrap();
    write(json!({ "pooling_mode_mean_tokens": true }));
    assert_eq!(embed(&LocalModel::open(&folder).unwrap(), &["send a mail"]), mean);
    write(json!({ "pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true }));
    assert_ne!(embed(&LocalModel::open(&folder).unwrap(), &["send a mail"]), mean);
    write(json!({ "pooling_mode_max_tokens": true }));
    let error = LocalModel::open(&folder).unwrap_err().to_string();
    assert!(error.contains("neither the mean of the tokens nor the first token"), "{error}");
}

#[test]
fn unsupported_modules_are_an_error() {
    let folder = folder("modules");
    tiny::write(&folder);
    let mean = embed(&LocalModel::open(&folder).unwrap(), &["send a mail"]);
    fs::create_dir(folder.join("2_Pooling")).unwrap();
    let first = json!({ "pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true });
    fs::write(folder.join("2_Pooling/config.json"), first.to_string()).unwrap();
    let write = |modules: &[(&str, &str)]| {
        let module = |(kind, path): &(&str, &str)| json!({ "type": format!("some.models.{kind}"), "path": path });
        let modules: Vec<Value> = modules.iter().map(module).collect();
        fs::write(folder.join("modules.json"), json!(modules).to_string()).unwrap();
    };
    write(&[("Transformer", ""), ("Pooling", "2_Pooling"), ("Normalize", "3_Normalize")]);
    assert_ne!(embed(&LocalModel::open(&folder).unwrap(), &["send a mail"]), mean);
    for (modules, expected) in [
        (&[("Transformer", ""), ("Pooling", "2_Pooling"), ("Dense", "3_Dense")][..], "Transformer, Pooling, Dense"),
        (&[("Transformer", "")], "modules are Transformer, expected"),
        (&[("Transformer", "0_Bert"), ("Pooling", "2_Pooling")], "not in their usual folders"),
        (&[("Transformer", ""), ("Pooling", "../2_Pooling")], "not in their usual folders"),
        (&[("Transformer", ""), ("Pooling", "1_Pooling")], "1_Pooling"),
    ] {
        write(modules);
        let error = LocalModel::open(&folder).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn control_characters_are_ignored() {
    let folder = folder("controls");
    tiny::write(&folder);
    let model = LocalModel::open(&folder).unwrap();
    let texts =
        ["sends mail", "send\u{b}s mail", "send\u{c}s mail", "send\u{85}s mail", "sends\nmail", "sends\u{2028}mail"];
    let vectors = embed(&model, &texts);
    assert_eq!(vectors, vec![vectors[0].clone(); texts.len()]);
}

#[test]
fn long_texts_are_truncated() {
    let folder = folder("long");
    tiny::write(&folder);
    fs::write(folder.join("sentence_bert_config.json"), r#"{ "max_seq_length": 5 }"#).unwrap();
    let model = LocalModel::open(&folder).unwrap();
    let vectors = embed(&model, &["a send mail", "a send mail . . .", "a send"]);
    assert_eq!(vectors[0], vectors[1]);
    assert_ne!(vectors[0], vectors[2]);
}

#[test]
fn every_text_has_a_vector() {
    let folder = folder("hostile");
    tiny::write(&folder);
    let mut models = vec![LocalModel::open(&folder).unwrap()];
    models.extend(mini_lm());
    const LEN: usize = 1 << 20;
    let texts = [
        String::new(),
        "a".repeat(LEN),
        "a ".repeat(LEN / 2),
        "\u{301}".repeat(LEN / 2),
        "\0\u{1}\u{7f}\u{200b}".repeat(LEN / 6),
        "😀".repeat(LEN / 4),
        "\u{FFFD}\u{202e}[SEP][CLS]\u{fdfa}".to_owned(),
    ];
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    for model in models {
        for vector in embed(&model, &texts) {
            assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }
}

#[test]
fn errors_of_a_model_contain_the_reason() {
    #[track_caller]
    fn check(name: &str, spoil: impl Fn(&Path), expected: &str) -> ModelError {
        let folder = folder(name);
        tiny::write(&folder);
        spoil(&folder);
        let error = LocalModel::open(&folder).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        error
    }
    let json = |file: &'static str, mut value: Value, at: &'static str, to: Value| {
        *value.pointer_mut(at).unwrap() = to;
        move |folder: &Path| fs::write(folder.join(file), value.to_string()).unwrap()
    };
    let config = |at, to| json("config.json", tiny::config(), at, to);
    let tokenizer = |at, to| json("tokenizer.json", tiny::tokenizer(), at, to);
    let tensors = |change: fn(&mut Vec<(String, Vec<usize>)>)| {
        let mut shapes = tiny::shapes();
        change(&mut shapes);
        move |folder: &Path| fs::write(folder.join("model.safetensors"), tiny::weights(&shapes)).unwrap()
    };

    let missing = |folder: &Path| fs::remove_file(folder.join("model.safetensors")).unwrap();
    check("no-weights", missing, "expected a folder with `config.json`, `tokenizer.json` and `model.safetensors`");
    let error = check("no-tensor", tensors(|shapes| drop(shapes.pop())), "`encoder.layer.0.output.LayerNorm.bias`");
    assert!(matches!(error, ModelError::Tensor { found: None, .. }));
    let error = check("shape", tensors(|shapes| shapes[0].1 = vec![9, 3]), "[9, 3], but `config.json` requires [9, 4]");
    assert!(matches!(error, ModelError::Tensor { found: Some(_), .. }));
    let cut =
        |folder: &Path| fs::write(folder.join("model.safetensors"), &tiny::weights(&tiny::shapes())[..99]).unwrap();
    check("cut", cut, "download the model again");
    let huge = |folder: &Path| fs::write(folder.join("model.safetensors"), [0xFF; 64]).unwrap();
    check("huge-header", huge, "download the model again");

    check("kind", config("/model_type", json!("gpt2")), "the model is `gpt2`");
    check("activation", config("/hidden_act", json!("relu")), "`relu`, expected `gelu`");
    check("heads", config("/num_attention_heads", json!(3)), "3 heads");
    check("control", config("/model_type", json!("\u{1b}[1m".repeat(1000))), "is `\\u{1b}[1m\\u{1b}[1m");
    check("no-heads", config("/num_attention_heads", json!(0)), "0 heads");
    check("many-layers", config("/num_hidden_layers", json!(u32::MAX)), "`encoder.layer.1.");
    check("vast", config("/hidden_size", json!(1_u64 << 62)), "requires");
    check("no-json", |folder| fs::write(folder.join("config.json"), "{").unwrap(), "EOF while parsing");
    check("tokens", tokenizer("/model/vocab/mail", json!(99)), "`mail` is token 99, but the model has 9 tokens");
    check(
        "pieces",
        tokenizer("/model/type", json!("BPE")),
        "`model` is \"BPE\", expected WordPiece; use a model like all-MiniLM-L6-v2",
    );
    check("special", tokenizer("/model/unk_token", json!("<unk>")), "the vocabulary has no `<unk>`");
}
