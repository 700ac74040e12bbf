"""What was said -> what is known.

queue         what is still to be learned -> read one after another, within limits; failures wait and are parked
learn         a conversation -> its new turns -> extracted -> saved as every entry is
marked_notes  a note marked `memory: source` -> its new paragraphs; facts end when their words leave the note
extract       turns -> the model of the task `extract`, or the rules -> candidate facts with their evidence;
              labelled clauses and the encoder -> a classifier -> how likely a clause is worth keeping
settle        candidate facts -> `memory.save`: gate, integrator, review -> what became of each
model_calls   a task and its prompts -> the model of the settings, within breaker and budget -> a logged answer
judge         a candidate and a known fact -> a model's decision, where the rules have none
"""
