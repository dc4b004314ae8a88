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
check "the process is the same" is "$(main_pid)" "$pid"
check "the socket has not failed" is "$(systemctl is-active junctiond.socket)" active
check "no client gets a token" told junctionctl token
check "a wait for the session fails" told junctionctl wait --for fresh
check "the target fails" no timeout 30 systemctl start junction-online.target
check "systemctl status shows the error" has "$(prop StatusText)" refused nonsense
check "the journal has the reason" grep -q nonsense <(logged -o cat _SYSTEMD_UNIT=junctiond.service -p err)
check "doctor reports the error" has "$(junctionctl doctor || :)" nonsense
check "the stored session is unchanged" is "$(sha256sum <"$state/session.sealed")" "$record"

systemctl reload junctiond.service 2>"$work/.errors" || :
check "a reload of the same file changes nothing" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a reload with a valid file succeeds" systemctl reload junctiond.service
check "the next client waits for the daemon, and receives the session" field_is state established
check "the session is anna's" field_is userId "$user"
check "the service manager has started another process" no is "$(main_pid)" "$pid"
check "the first process ended with exit code 75 (temporary)" \
    grep -q 'status=75' <(logged -o cat -u junctiond.service)

echo 'nonsense = 1' >>"$config"
systemctl stop --quiet junctiond.service
check "without a waiting client the start fails" no systemctl start junctiond.service
check "the exit code is 78 (configuration)" prop_is ExecMainStatus 78
check "a later client receives the error" told junctionctl status
cp "$scratch/config.as-installed" "$config"
check "a restart with a valid file succeeds" systemctl restart junctiond.service
check "the session is back" field_is userId "$user"
