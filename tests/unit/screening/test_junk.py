"""Junk: what nobody needs to remember, in any language; and what looks like it and is worth keeping."""

import time

import pytest

from commonplace.screening.junk import junk_reason

TOLD = (
    "User agrees with the answer.",
    "The human says hi and thanks.",
    "The assistant explained how tides work.",
    "We had a pleasant chat, and the user seemed pleased.",
    "The discussion turned to holidays.",
    "Asked how many grams a cup of rice has.",
    "User had a question about loops.",
    "The user and the assistant talked about films.",
    "User pasted a long log.",
    "No preferences were mentioned.",
    "Nothing new was learned in this chat.",
    "User likes nice things.",
    "User wanted a rhyme for 'window'.",
    "The user asked me to shorten this email.",
    "Summarised the report for the user.",
    "I explained the difference between a list and a tuple.",
    "A week has 7 days.",
    "Lisbon is the capital of Portugal.",
    "Ice melts at zero degrees.",
)
COURTESIES_TOLD = (
    "He wished me a lovely afternoon.",
    "The user bade us goodbye until tomorrow.",
    "She told me I was doing a great job.",
)
ANSWERS = (
    "Of course! I'll rephrase the third bullet for you.",
    "Excellent question! There are quite a few ways to do it.",
    "Sure, I can shorten the caption.",
    "Good idea. Which tone should we use?",
    "Should I continue with the next slide?",
)
STAND_INS = ("[Video attached]", "<voice message omitted>", "(attachment: plan.pdf)", "[This photo was removed]")
CHORES = (
    "I translated two sentences from Danish into Greek.",
    "I reworded the closing paragraph.",
    "I counted the words in the abstract.",
    "Transcribed a short text for the user.",
)
HOSTS = (
    "Context at 72 %, trimming older messages.",
    "Connected to the gateway server at 08:15:02, ping 12 ms",
    "Session resumed after 5 minutes.",
    "Rate limit reached, retrying in 9 s.",
    "Plan mode is on.",
)
WAITS = (
    "Still waiting for the install to finish.",
    "The export is still running.",
    "I'll wait for the tests to pass.",
    "Paused until the user answers.",
)
QUESTIONS_ASKED = (
    "Asked the user which of the drafts should be sent.",
    "I asked whether the second column is right.",
    "The user was asked to confirm the new title.",
    "Asked him to paste the log again.",
)
OWN_SLIPS = (
    "My previous reply had a typo, which I fixed.",
    "The code I gave before contained a bug.",
    "I mixed up the two columns and corrected it.",
)
BARE_REQUESTS = ("Please remember that.", "Very important!", "Never forget this.", "Note to self.", "Good to know.")
CRASHES = (
    "thread 'main' panicked at src/io.rs:9:5:\ncalled `Result::unwrap()` on an `Err` value",
    "terminate called after throwing an instance of 'std::bad_alloc'",
    "** (KeyError) key :id not found in: %{}",
    "node:internal/process/promises:279 triggerUncaughtException(err, true);",
    "Caused by: java.io.IOException: Broken pipe",
    "Process finished with exit code 134 (interrupted by signal 6: SIGABRT)",
)
STATUSES = (
    "Waiting for the user's answer.",
    "Searched the notes, nothing found.",
    "Fixed a typo in line 7.",
    "All 12 tests passed.",
    "Tests: 12 passed, 1 failed",
    "Build is green again.",
    "Indexed 40 files in 2.1 s",
    "[Tool output: 3 rows]",
    "git status: On branch dev, nothing to commit, working tree clean",
    "Here is the new version:",
    "To do:",
    "Follow up on this later.",
    "It is raining outside.",
)
EMPTY_REPORTS = (
    "Nothing in this talk was worth keeping; no new facts.",
    "The exchange held no information of lasting value.",
    "The stored entries remain untouched.",
    "Memory stays the same as before.",
    "Preferences: none",
    "New facts: nothing new.",
    "I did not learn anything about the user.",
    "No new insights were recorded.",
)
RUN_REPORTS = (
    "Bundling 77 modules, done in 1.9 s",
    "Linked 3 targets in 1m 12s",
    "Rendering pages (12/12)",
    "Copied 9 files (2.4 MB) in 300ms",
    "Deployment failed after 14 s",
    "18 specs run, 0 failures, 1 skipped",
    "Formatting 5 files... ok",
    "Embedded 620 passages in 4.4 s",
)
MOODS = (
    "The user was courteous from the start and seemed pleased with the letter.",
    "User sounded a bit nervous at first.",
    "The user stayed calm throughout.",
    "The user expressed relief that the script worked.",
    "The tone of the chat was relaxed.",
)
MISTAKES = (
    "Sorry, I misheard the second part.",
    "I made a mistake in my last message.",
    "Oops, I gave you the wrong link.",
    "My previous answer was incorrect.",
)
ERRANDS = (
    "The user asked to have 96 divided by 8.",
    "The user asked for the square root of 625.",
    "User asked for the plural of 'mouse'.",
    "The user asked to have the paragraph reworded.",
    "The user asked the assistant to sort the names.",
    "User asked for another version of the title.",
    "The user asked to know the time in Quito.",
)
TOOL_RESULTS = (
    "The lookup returned nothing useful.",
    "The first query failed, the second worked.",
    "A search of the notes turned up nothing.",
    "No pages were found by the search tool.",
    "The API call timed out.",
    "The link could not be opened.",
)
KNOWLEDGE = (
    "A hexagon has six sides.",
    "An hour has 60 minutes.",
    "Owls are nocturnal birds.",
    "Copper conducts heat and electricity.",
    "The liver filters the blood.",
    "A pronoun is a word that stands for a noun.",
    "Cows are herbivores and produce milk.",
    "Jupiter is the largest planet.",
    "The French Revolution began in 1789.",
)
ALMOST_REPORTS = (
    "The user got engaged in spring.",
    "The user was annoyed by jokes.",
    "The user is impatient with long explanations.",
    "The user was polite to the landlord but will sue.",
    "The user felt tired all the time.",
    "Point out my mistakes.",
    "Correct my sentences.",
    "I made a mistake in the tax return.",
    "I missed the deadline in March.",
    "The user asked for metric units.",
    "The user asked to have all dates in ISO format.",
    "The user asked to have the code formatted with tabs.",
    "The user asked to sort results by date.",
    "The user asked to round prices up.",
    "The user asked for a version control course.",
    "The user asked for the window seat.",
    "The search returns stale results until the index is rebuilt.",
    "The attempt to quit smoking failed.",
    "The script was in the repo.",
    "The API was down on Friday.",
    "The file was lost in the flood.",
)
OWN_MATTERS = (
    "Takes no notes in meetings.",
    "No summary needed.",
    "Medication: none.",
    "No information about the clinic may reach the sister.",
    "Has no memory of the accident.",
    "The offer stays unchanged until May.",
    "The build compiles 77 modules, which is too many.",
    "Builds take 40 s on the old laptop.",
    "Cycled 30 km in 70 minutes on Sunday.",
    "Built 3 sheds in two weeks.",
    "Installed 8 radiators, 2 left.",
    "A sprint has two weeks.",
    "The lawn is a hexagon.",
    "Owls are her favourite birds.",
    "Cows are not allowed on the north meadow.",
    "The liver was checked in May.",
    "A star in the plan means the slot is paid.",
    "The official language in the team is English.",
    "The biggest market in Europe is Poland.",
    "Kestrel's parcel API allows 90 calls a minute.",
)
NEAR_MISSES = (
    "The user asked to be called Max.",
    "The user asked for shorter answers.",
    "User asked not to use emojis.",
    "No questions at the end.",
    "Questions first, answers later.",
    "The user works in IT.",
    "Interested in AI.",
    "The user accepted the offer from Acme.",
    "The user thanked nobody because the prize came too late.",
    "The user asked how to dose insulin because he has type 1 diabetes.",
    "The user needs help with stairs.",
    "Wants to know when tests fail.",
    "Asked the doctor about the pills and got a lower dose.",
    "Checked the logs: the nightly job runs out of memory.",
    "Fixed the build by pinning pnpm to 9.",
    "Ran the Oslo office for six years.",
    "The branch was renamed to main.",
    "The session cookie is valid for 20 minutes.",
    "The assistant must never push to main.",
    "As an AI in this house, I should always answer in Polish.",
    "Python is the team's main language.",
    "Redis is a no-go at Kestrel.",
    "Water is cut off on 3 May.",
    "All tests must pass before a merge.",
    "The build takes 11 minutes.",
    "I can't swim.",
    "Waiting for an answer from the bank about the loan.",
    "We discussed the rent: it stays at 900 euros.",
    "Follow up with Marta about the timber.",
)
JUNK = (
    *COURTESIES_TOLD,
    *ANSWERS,
    *STAND_INS,
    *CHORES,
    *HOSTS,
    *WAITS,
    *QUESTIONS_ASKED,
    *OWN_SLIPS,
    *BARE_REQUESTS,
    *CRASHES,
    "",
    " \n\t ",
    "...",
    "👍👍",
    "12345",
    "ok",
    "Thanks!",
    "Vielen Dank für deine Hilfe!",
    "muchas gracias",
    "好的，谢谢",
    "Sure, I can help with that!",
    "As an AI language model, I cannot access the internet.",
    "Bien sûr ! Je peux vous aider.",
    "The user greeted the assistant.",
    " 73%|███████▎  | 730/1000 [00:12<00:04, 60.1it/s]",
    "\x1b[32m✔\x1b[0m \x1b[1mDone\x1b[0m in 2.31s",
    "Collecting requests\nInstalling collected packages: requests\nSuccessfully installed requests-2.31.0",
    "total 24\ndrwxr-xr-x 2 mira mira 4096 Mar  1 09:12 .",
    "src/app.py\nsrc/main.py",
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nKeyError: 1',
    '{"status": "ok", "data": []}',
    "....................F....s...   [100%]",
    "aaaaaaaaaaaa",
    "no no no no no no",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "© 2024 Acme Corp. All rights reserved.",
    "We use cookies to improve your experience. Accept all | Reject all",
    "asdfghjkl",
    "sdkjfh skdjfh ksjdhf",
    "null",
    "[object Object]",
    *TOLD,
    *STATUSES,
    *EMPTY_REPORTS,
    *RUN_REPORTS,
    *MOODS,
    *MISTAKES,
    *ERRANDS,
    *TOOL_RESULTS,
    *KNOWLEDGE,
)
WORTH_KEEPING = (
    *NEAR_MISSES,
    *ALMOST_REPORTS,
    *OWN_MATTERS,
    "Vegetarian.",
    "ADHD.",
    "The user told me his job is night work.",
    "The user thanked the jury in writing.",
    "She said her weekends are for the children.",
    "Okay. The boiler needs a new anode.",
    "Sure. I would salt it only at the end.",
    "[Cellar] the fuse box is behind the shelf.",
    "<Ada> prefers the 24-hour clock.",
    "I translated Rilke into Danish.",
    "I wrote a script that renames scans by date.",
    "I fixed the script by pinning pandas.",
    "I wrote my thesis on lichens.",
    "Sessions expire after 30 minutes.",
    "Rate limit is 100 requests per minute.",
    "The server is idle at night.",
    "The user works in plan mode first.",
    "Still waiting for the visa since 2 May.",
    "Waiting list for the nursery: place 14, answer in April.",
    "The build is still on Java 8.",
    "Asked about milk: he takes oat milk only.",
    "The user was asked to chair the jury.",
    "My first attempt at the licence failed in 2019.",
    "My sentence was shortened.",
    "Please remember that Lea is vegan.",
    "Do not keep records of calls.",
    "Note everything down.",
    "Important: the cat gets insulin at seven.",
    "Segmentation faults on the Pi went away after numpy was pinned.",
    "怕辣。",
    "Не ест мясо.",
    "يفضل القهوة",
    "Thanks to Mira the migration was finished in March.",
    "Sure-Fit is the supplier for the gaskets.",
    "Let Mira know before 5 pm if the flight is late.",
    "I can lift 80 kg.",
    "The user said he is moving to Lisbon in May.",
    "Error: ENOSPC means raise fs.inotify.max_user_watches.",
    "KeyError: 'user_id' comes from old events; run the backfill.",
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n\nCause: no ids. Run `make ids`.',
    'The status endpoint answers {"status": "ok"} even when the queue is down.',
    "Warning: Mira's dog bites.",
    "Collecting stamps is Jonas's hobby.",
    "Our cookie banner must offer Reject all beside Accept all.",
    "nginx, psql and xvfb are installed on the box.",
    "| Name | Role |\n|---|---|\n| Mira | design |",
    "1. Tea\n2. Bread",
    "[[Mira]] works at [[Acme]]",
    "Of course! The API allows 300 calls a minute.",
)
HOSTILE = (
    "a",
    "ok ",
    "tak ",
    "test ",
    "bla ",
    "...f",
    "a.",
    "{",
    "<a",
    "<a>",
    "\x1b[",
    "  at a\n",
    "[#",
    "a/b.py\n",
    "I can help ",
    "tests now ",
    "build is now ",
    "git a: on branch a, ",
    "user asked ",
    "loaded 1 ",
    "compiling 1 file, ",
    "no new facts ",
    "summary: no ",
    "a triangle has ",
    "built 1 file in 1",
    "the search returned ",
    "user was polite and ",
    "asked to have 1 ",
    "thread 'a' panicked at ",
    "thread 'a' panicked at a:\n",
    "sure. let me ",
    "[image ",
    "i translated a text ",
    "session resumed ",
    "still waiting for the build ",
    "please remember this ",
    "error in a",
)


@pytest.mark.parametrize("text", JUNK)
def test_junk_is_refused_with_a_reason(text: str) -> None:
    """What says nothing is junk, and why is told in a sentence that does not quote it."""
    reason = junk_reason(text)

    assert reason.endswith(".")
    assert len(text) < 4 or text not in reason


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_what_says_something_is_kept(text: str) -> None:
    """Short is not junk, a fix may quote an error, and one sentence that says something saves the text."""
    assert junk_reason(text) == ""


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_can_hold_the_gate_up(piece: str) -> None:
    """200,000 characters of anything take a second at most."""
    begun = time.process_time()
    junk_reason(piece * (200_000 // len(piece)) + "x")

    assert time.process_time() - begun < 1.0
