"""What may be saved as text: detect secrets and junk, redact secrets. Pure: no I/O, no clock.

gate            the verdict on a text: allow, stage for review, or refuse
secrets         find and redact secrets; secret_formats knows them by format, secret_words by the words before them
junk            text without content; junk_phrases has the lists
"""
