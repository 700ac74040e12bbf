"""Installs us in hosts, the programs that agents run in: our entries in their files.

From what a person requests down to the bytes of a file; each module imports only from those below it:

    health_checks                   whether a host still reaches us
    install                         installs and uninstalls: the record first, then the files; what a person is told;
                                    what is left on the machine at the end
    plugin                          whether a host has the plugin, and which server serves the tools then
    plan                            what would change, file by file; writes nothing
    install_record, host_tokens     what is installed where; the token for HTTP
    registry                        the hosts by name, with their files and entries
    host                            what a host is, the options of an install, the environment of this process
    file_changes                    changes a file whole or not at all
    host_edits                      puts an entry into a text and takes it out again, in any of three formats;
                                    recognizes our entries, and the files that are ours as a whole
    jsonc_edits, toml_edits         edits JSON with comments, and TOML
    text_edits                      a block of lines at the end of a text; what undoing an edit has to know
    jsonc                           parses JSON with comments

`skills/` holds the texts of our skills, which are also those of the plugin.
"""
