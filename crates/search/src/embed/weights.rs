//! The weights of a model.

use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

use super::model_error::ModelError;
use super::model_file::bytes;

/// The maximum size; models that run on a CPU in reasonable time are much smaller.
const MAX_BYTES: u64 = 4 << 30;

/// The content of the file, from which tensors are copied one by one.
pub(crate) struct Weights {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Weights {
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("model.safetensors");
        let bytes = bytes(&path, MAX_BYTES)?;
        Ok(Self { path, bytes })
    }

    pub(crate) fn tensors(&self) -> Result<Tensors<'_>, ModelError> {
        let tensors = SafeTensors::deserialize(&self.bytes)
            .map_err(|error| ModelError::Damaged { path: self.path.clone(), reason: error.to_string() })?;
        // The tensors of a complete model have a prefix before the names of the encoder's.
        let prefix = if tensors.tensor("bert.embeddings.word_embeddings.weight").is_ok() { "bert." } else { "" };
        Ok(Tensors { path: &self.path, tensors, prefix })
    }
}

/// The tensors by name.
pub(crate) struct Tensors<'w> {
    path: &'w Path,
    tensors: SafeTensors<'w>,
    prefix: &'static str,
}

impl Tensors<'_> {
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, ModelError> {
        let numbers = self.numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| ModelError::Damaged { path: self.path.to_owned(), reason: error.to_string() })
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, ModelError> {
        Ok(Array1::from_vec(self.numbers(name, &[length])?))
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let wrong = |found| ModelError::Tensor { name: name.to_owned(), expected: shape.to_owned(), found };
        let tensor = self.tensors.tensor(&format!("{}{name}", self.prefix)).map_err(|_| wrong(None))?;
        if tensor.shape() != shape {
            return Err(wrong(Some(tensor.shape().to_owned())));
        }
        if tensor.dtype() != Dtype::F32 {
            let what = format!("the tensor `{name}` has the type {:?}, expected F32", tensor.dtype());
            return Err(ModelError::Unsupported { path: self.path.to_owned(), what });
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}
