"""Encoders: text to vectors.

base            the `EncoderProvider` protocol, fixed-point vectors, token counts without a tokenizer
onnx_encoder    runs one of our models with onnxruntime
models          the models: their packages, pinned hashes and tokenizers, and how their graphs are built
model_files     a model's files: status, download, verification, its graph
model_graphs    writes a BERT model or the Universal Sentence Encoder as an ONNX file, from its weights
onnx_format     the ONNX file format: writing a graph, reading weights
http            any server with OpenAI's `POST /embeddings`
hashing         hashes of words: deterministic and without a model, for tests and quick runs
options         the settings block `embedding`
"""
