//! The pooling of token vectors.

use std::path::{Component, Path};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::model_error::ModelError;
use super::model_file::{json, optional, shown};

/// The method that combines token vectors into the vector of a text.
#[derive(Clone, Copy)]
pub(crate) enum Pooling {
    Mean,
    First,
}

/// An entry of `modules.json`, a stage of the model.
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    path: String,
}

/// The prefix of the methods in the `config.json` of a pooling, which may combine several.
const MODE: &str = "pooling_mode_";

impl Pooling {
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let modules: Vec<Module> = optional(&folder.join("modules.json"))?;
        if modules.is_empty() {
            let path = folder.join("1_Pooling").join("config.json");
            return Self::from_config(&optional(&path)?, &path);
        }
        let path = folder.join(pooling_folder(&modules, folder)?).join("config.json");
        Self::from_config(&json(&path)?, &path)
    }

    fn from_config(config: &Map<String, Value>, path: &Path) -> Result<Self, ModelError> {
        let is_on = |mode: &str| config.get(&format!("{MODE}{mode}")).and_then(Value::as_bool);
        let mut modes = config.keys().filter_map(|key| key.strip_prefix(MODE));
        let is_other = modes.any(|mode| !["mean_tokens", "cls_token"].contains(&mode) && is_on(mode) == Some(true));
        match (is_on("mean_tokens").unwrap_or(true), is_on("cls_token").unwrap_or(false), is_other) {
            (true, false, false) => Ok(Self::Mean),
            (false, true, false) => Ok(Self::First),
            _ => {
                let what = "the pooling is neither the mean of the tokens nor the first token".to_owned();
                Err(ModelError::Unsupported { path: path.to_owned(), what })
            }
        }
    }
}

/// Returns the folder of the pooling, if all stages of the model are supported. A normalization makes no difference,
/// since vectors are compared by direction.
fn pooling_folder<'m>(modules: &'m [Module], folder: &Path) -> Result<&'m str, ModelError> {
    let unsupported = |what| ModelError::Unsupported { path: folder.join("modules.json"), what };
    let kinds: Vec<&str> = modules.iter().map(|module| module.kind.rsplit('.').next().unwrap_or_default()).collect();
    let ([transformer, pooling, ..], ["Transformer", "Pooling"] | ["Transformer", "Pooling", "Normalize"]) =
        (modules, &*kinds)
    else {
        let kinds = shown(&kinds.join(", "));
        return Err(unsupported(format!(
            "the modules are {kinds}, expected Transformer, Pooling and optionally Normalize"
        )));
    };
    let is_below = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !transformer.path.is_empty() || !is_below(&pooling.path) {
        return Err(unsupported("the modules are not in their usual folders".to_owned()));
    }
    Ok(&pooling.path)
}
