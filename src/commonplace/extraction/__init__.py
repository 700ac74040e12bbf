"""What a conversation says that is worth knowing: turns -> candidate facts with their evidence. Pure.

- rules     what people plainly state, by rules alone: no model, precision first
            speech           a turn -> clauses, each with the reason why it is no plain statement
            *_frames         a clause -> a statement: personal, household, standing (rules), dated
            statement        what all frames share; a clause that no frame knows -> a statement, if it stands alone
            clause_classifier  how likely a clause is worth keeping, fitted on labelled clauses
            spoken_dates     "since August" -> since August 2026
            third_person     "I prefer tea" -> "Prefers tea."
- answers   what a model answers: the schema it is asked for, and which of its items are refused, and why
"""
