"""Encoders: text to vectors.

base          the `EncoderProvider` protocol, fixed-point vectors, token counts without a tokenizer
minilm        all-MiniLM-L6-v2 with onnxruntime: the default encoder
model_files   the model's files: status, download, verification, building the graph
onnx_graph    writes the model as an ONNX file, from its weights
http          any server with OpenAI's `POST /embeddings`
hashing       hashes of words: deterministic and without a model, for tests and quick runs
options       the settings block `embedding`
"""
