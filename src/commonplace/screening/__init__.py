"""What may be saved as text: detect secrets and junk, redact secrets, strip narration. Pure: no I/O, no clock.

gate            the verdict on a text: allow, stage for review, or refuse; text that tells a model what to do
secrets         find and redact secrets; secret_formats knows them by format, secret_words by the words before them,
                secret_uses by what they open and by the flags of commands, seed_phrases those of wallets
junk            text without content; junk_phrases has lists, session_talk judges sentences about a session by the
                words in session_words, and what textbooks say, session_reports knows sentences all of whose words are
                known, program_output what programs print
narration       a statement without "User mentioned that", "Note:" or a bullet before it
"""
