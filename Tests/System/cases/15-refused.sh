#!/usr/bin/env bash
# A configuration that is refused: whoever connects is told so at once, by one process that has nothing of the session, and nothing is
# started over and over. Without anybody who waits, the start fails.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
systemctl stop --quiet junctiond.service
record=$(sha256sum <"$state/session.sealed")
echo 'nonsense = 1' >>"$config"
mark

told() { # COMMAND...
    ends_with 78 timeout 10 "$@" >"$work/out" 2>"$work/error" && has "$(<"$work/error")" misconfigured nonsense
}
many_are_told() {
    local number
    for ((number = 0; number < 80; number++)); do told junctionctl status || return 1; done
}

check "whoever connects is told what is wrong" told junctionctl status
pid=$(main_pid)
check "eighty more are told" many_are_told
check "by one and the same process" is "$(main_pid)" "$pid"
check "the socket has not failed" is "$(systemctl is-active junctiond.socket)" active
check "nobody gets a token" told junctionctl token
check "nobody waits for the session in vain" told junctionctl wait --for fresh
check "nor does the target" no timeout 30 systemctl start junction-online.target
check "systemctl status says it, too" has "$(prop StatusText)" refused nonsense
check "the journal has the reason" grep -q nonsense <(logged -o cat _SYSTEMD_UNIT=junctiond.service -p err)
check "doctor says it" has "$(junctionctl doctor || :)" nonsense
check "nothing of the session was touched" is "$(sha256sum <"$state/session.sealed")" "$record"

systemctl reload junctiond.service 2>"$work/.errors" || :
check "a reload of the same file changes nothing" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a reload of one that is right succeeds" systemctl reload junctiond.service
check "whoever asks then waits for the daemon, and the session is there" field_is state established
check "it is anna's" field_is userId "$user"
check "by another process, that the service manager has started" no is "$(main_pid)" "$pid"
check "the one before it ended with the exit code for something temporary" \
    grep -q 'status=75' <(logged -o cat -u junctiond.service)

echo 'nonsense = 1' >>"$config"
systemctl stop --quiet junctiond.service
check "with nobody who waits the start fails" no systemctl start junctiond.service
check "with the exit code for configuration" prop_is ExecMainStatus 78
check "and whoever connects then is told" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a restart mends it, too" systemctl restart junctiond.service
check "and the session is there again" field_is userId "$user"
