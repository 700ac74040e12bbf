"""Language models, all of them optional: messages and a schema in, a checked value and its usage out.

- base            the seam: `LanguageModel`, one method
- openai_api      any server with OpenAI's chat completions: OpenAI, Ollama, llama.cpp, LM Studio, vLLM
- anthropic_api   Anthropic's messages
- host_model      the model of an agent's host, which the host asks for us
- json_answers    what both share: the server's limits, JSON in a model's words, what fits a schema, one re-ask
- prompts         the prompts, one file each, with a version
- options         the settings `llm`
"""
