"""Settings: files, environment variables and flags fill the frozen options that each room declares.

schema              every option with its type, default and range; `Settings`, the filled value
load                reads the layers, merges them and reports the origin of each value
harmless            which settings the page may change, and how
registered_vaults   the list of vaults that `commonplace init` keeps
"""
