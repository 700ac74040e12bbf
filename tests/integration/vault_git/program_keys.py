"""Every setting of git that can run a program, write a file of its choice or bring in another configuration.

Taken from the documentation of git 2.55 (`git help --config`: 925 keys) and from every `use_shell` and every child
process in its source. docs/decisions/0026 has the same table; test_git_hostile.py compares the two.
"""

PROGRAM_KEYS: tuple[str, ...] = (
    "alias.log",
    "alias.evil",
    "alias.evil.command",
    "browser.evil.cmd",
    "browser.evil.path",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "credential.https://example.org.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "difftool.evil.cmd",
    "difftool.evil.path",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.evil.smudge",
    "gc.recentObjectsHook",
    "gpg.openpgp.program",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "gpg.x509.program",
    "guitool.evil.cmd",
    "hook.evil.command",
    "imap.tunnel",
    "instaweb.browser",
    "instaweb.httpd",
    "interactive.diffFilter",
    "man.evil.cmd",
    "man.evil.path",
    "merge.evil.driver",
    "mergetool.evil.cmd",
    "mergetool.evil.path",
    "pager.cat-file",
    "pager.log",
    "remote.evil.receivepack",
    "remote.evil.uploadpack",
    "remote.evil.vcs",
    "sendemail.ccCmd",
    "sendemail.headerCmd",
    "sendemail.sendmailCmd",
    "sendemail.smtpServer",
    "sendemail.toCmd",
    "sequence.editor",
    "submodule.evil.update",
    "svn.authorsProg",
    "tar.evil.command",
    "trailer.evil.cmd",
    "trailer.evil.command",
    "uploadpack.packObjectsHook",
    "web.browser",
)
"""The keys whose value is a program or a command line."""

FILE_KEYS: tuple[str, ...] = (
    "core.hooksPath",
    "core.worktree",
    "format.outputDirectory",
    "fsmonitor.socketDir",
    "gc.repackFilterTo",
    "http.cookieFile",
    "include.path",
    "includeIf.gitdir:**.path",
    "init.templateDir",
    "trace2.eventTarget",
    "trace2.normalTarget",
    "trace2.perfTarget",
)
"""The keys whose value is a folder with programs, a file that git writes, or a file with further settings."""

SWITCH_KEYS: tuple[tuple[str, str], ...] = (
    ("branch.main.mergeOptions", "--verify-signatures"),
    ("commit.gpgSign", "true"),
    ("diff.tool", "evil"),
    ("extensions.partialClone", "evil"),
    ("fetch.bundleURI", "file:///nowhere"),
    ("gc.auto", "1"),
    ("gc.autoPackLimit", "1"),
    ("gc.repackFilter", "blob:none"),
    ("help.browser", "evil"),
    ("hook.evil.event", "reference-transaction"),
    ("hook.evil.event", "post-index-change"),
    ("hook.evil.event", "pre-auto-gc"),
    ("hook.evil.event", "pre-commit"),
    ("http.saveCookies", "true"),
    ("log.showSignature", "true"),
    ("maintenance.strategy", "gc"),
    ("man.viewer", "evil"),
    ("merge.tool", "evil"),
    ("merge.verifySignatures", "true"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("remote.evil.promisor", "true"),
    ("remote.evil.url", "ext::PROGRAM"),
    ("submodule.recurse", "true"),
    ("tag.gpgSign", "true"),
    ("url.ext::PROGRAM .insteadOf", "https://"),
)
"""The keys that turn one of the others on, or choose it."""

HOOKS: str = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change "
    "post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit "
    "pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction "
    "sendemail-validate update"
)
"""The hooks that git knows, with blanks between them."""
