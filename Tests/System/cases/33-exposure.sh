#!/usr/bin/env bash
# The exposure of the daemon, as systemd-analyze computes it for the running unit.
. "${0%/*}/../lib.sh"
fresh
systemctl start junctiond.service

score() { systemd-analyze security --no-pager "$1" | sed -n 's/.*Overall exposure level for .*: \([0-9.]*\).*/\1/p'; }

is_at_most() { # SCORE LIMIT, both with one decimal
    ((10#${1/./} <= 10#${2/./})) || { echo "$1 is more than $2"; return 1; }
}

is_confined() { # PID
    is "$(sed -n 's/^Seccomp:\t//p' "/proc/$1/status")" 2 && is "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$1/status")" 1
}

for limit in junctiond.service:1.0 junctiond@.service:1.0 junctiond-courier@.service:1.2 junctiond-key-init.service:1.4 junctiond-key-init@.service:1.4 \
    junction-online.service:1.4 junctiond-token-file@.service:1.0; do
    score=$(score "${limit%:*}")
    check "${limit%:*}: $score, and at most ${limit#*:}" is_at_most "$score" "${limit#*:}"
done
check "the system call filter is in force" is_confined "$(main_pid)"
check "the limit of core files is zero" grep -Eq '^Max core file size +0 +0 ' "/proc/$(main_pid)/limits"
