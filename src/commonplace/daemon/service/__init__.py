"""The daemon as a process of this system.

state_files   private files, the lock that makes one process the daemon, and the log
install_file  which hosts are installed, in which folders, and with which address
control       calling the running daemon, and stopping it
units         the systemd unit or launchd agent that starts the daemon at login
"""
