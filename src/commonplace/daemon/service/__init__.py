"""The daemon as a process of this system.

state_files   private files, the lock that makes one process the daemon, and the log
control       calling the running daemon, and stopping it
units         the systemd unit or launchd agent that starts the daemon at login
"""
