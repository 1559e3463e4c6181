"""Computes the vectors of all-MiniLM-L6-v2 with numpy, as the model card describes them.

    reference.py MODEL < texts.json > ../../cases/embeddings.json

Needs numpy, safetensors and tokenizers.
"""
import json, math, sys
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

weights = load_file(sys.argv[1] + "/model.safetensors")
tokenizer = Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(256)
erf = np.vectorize(math.erf)


def linear(x, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12) * weights[name + ".weight"] + weights[name + ".bias"]


def vector(text):
    ids = tokenizer.encode(text).ids
    of = lambda kind: weights[f"embeddings.{kind}_embeddings.weight"].astype(np.float64)
    x = norm(of("word")[ids] + of("position")[: len(ids)] + of("token_type")[0], "embeddings.LayerNorm")
    for layer in range(6):
        at = f"encoder.layer.{layer}."
        heads = lambda name: linear(x, at + "attention.self." + name).reshape(len(ids), 12, 32).transpose(1, 0, 2)
        query, key, value = heads("query"), heads("key"), heads("value")
        shares = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        shares /= shares.sum(-1, keepdims=True)
        attended = (shares @ value).transpose(1, 0, 2).reshape(len(ids), 384)
        x = norm(x + linear(attended, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = linear(x, at + "intermediate.dense")
        inner = 0.5 * inner * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + linear(inner, at + "output.dense"), at + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


cases = [{"text": text, "vector": [round(x, 6) for x in vector(text).tolist()]} for text in json.load(sys.stdin)]
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
