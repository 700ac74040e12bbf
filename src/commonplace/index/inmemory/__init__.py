"""The index in memory, in plain Python: the twin for tests, and for programs that want nothing on disk.

- store       `InMemoryIndex`, every change; `InMemoryVectorCache`
- queries     `InMemoryReader`: search, chunks, counts, each by looking at every chunk
- documents   stored documents; filters, links, facts and topics, by plain comparison
"""
