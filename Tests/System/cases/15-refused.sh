#!/usr/bin/env bash
# An invalid configuration: one process without the session answers every client with the error, and systemd does not restart it
# repeatedly. Without a waiting client, the start fails.
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

check "a client receives the error" told junctionctl status
pid=$(main_pid)
check "eighty more clients receive it" many_are_told
check "from the same process" is "$(main_pid)" "$pid"
check "the socket has not failed" is "$(systemctl is-active junctiond.socket)" active
check "no client gets a token" told junctionctl token
check "a wait for the session fails" told junctionctl wait --for fresh
check "the target fails" no timeout 30 systemctl start junction-online.target
check "systemctl status says it, too" has "$(prop StatusText)" refused nonsense
check "the journal has the reason" grep -q nonsense <(logged -o cat _SYSTEMD_UNIT=junctiond.service -p err)
check "doctor says it" has "$(junctionctl doctor || :)" nonsense
check "nothing of the session was touched" is "$(sha256sum <"$state/session.sealed")" "$record"

systemctl reload junctiond.service 2>"$work/.errors" || :
check "a reload of the same file changes nothing" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a reload of one that is right succeeds" systemctl reload junctiond.service
check "the next client waits for the daemon, and receives the session" field_is state established
check "it is anna's" field_is userId "$user"
check "by another process, that the service manager has started" no is "$(main_pid)" "$pid"
check "the one before it ended with the exit code for something temporary" \
    grep -q 'status=75' <(logged -o cat -u junctiond.service)

echo 'nonsense = 1' >>"$config"
systemctl stop --quiet junctiond.service
check "without a waiting client the start fails" no systemctl start junctiond.service
check "with the exit code for configuration" prop_is ExecMainStatus 78
check "a later client receives the error" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a restart works, too" systemctl restart junctiond.service
check "and the session is there again" field_is userId "$user"
