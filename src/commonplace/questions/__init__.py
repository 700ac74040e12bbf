"""Understanding a question, and the words it has in common with a text; pure, no I/O.

- question        what a question or prompt asks for: words, phrases, names, times, kind of answer
- prompt_needs    what kind of memory a prompt needs, whether it asks for notes or leans on the prompt before
- words           tokens, folding, stems and stop words, of questions and of notes alike
- names           capitalised names and known speakers
- time_rules      phrases for times, such as "two weeks ago"; built from time_grammar (their parts)
- time_arguments  times given as arguments, such as `--since`
- snippets        the lines of a text that show a question's words best
"""
