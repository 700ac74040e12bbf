"""`python -m commonplace` is the command line."""

from commonplace.cli.main import main

main()
