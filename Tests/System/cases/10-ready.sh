#!/usr/bin/env bash
# `systemctl start` returns when the daemon is usable, not before, and `systemctl status` shows its state.
. "${0%/*}/../lib.sh"
fresh

# The daemon opens its configuration before it is ready: an empty pipe blocks it there.
rm "$config"
mkfifo "$config"

systemctl start junctiond.service &
start=$!

runs_but_is_not_ready() {
    prop_is SubState start && (($(main_pid) > 0)) && is "$(cat "/proc/$(main_pid)/comm")" junctiond
}
still_starts() {
    prop_is ActiveState activating && kill -0 "$start"
}

check "the unit has Type=notify" prop_is Type notify
check "the daemon runs and is not ready" await 10 runs_but_is_not_ready
check "systemctl start does not return before the daemon is ready" still_starts
echo "# the defaults" >"$config"
check "systemctl start returns when the daemon is ready" wait "$start"
check "the unit is active" prop_is ActiveState active
check "the journal has the daemon's ready message" \
    await_journal 5 . "MESSAGE_ID=$READY_ID" _SYSTEMD_UNIT=junctiond.service
check "the socket answers at once" ends_with 3 timeout 20 junctionctl status
check "the status line says that no user is signed in" prop_is StatusText "Nobody is signed in"

rm "$config"
cp "$scratch/config.as-installed" "$config"
sign_in anna
check "the status line says that a user is signed in, without the name" prop_is StatusText "A user is signed in"
check "no unit's state names the user" ends_with 1 grep -qF "$user" <<<"$(systemctl show 'junction*')"
check "no process is named after the user" ends_with 1 grep -qF "$user" <<<"$(cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm 2>/dev/null | tr '\0' ' ')"

# A start with an invalid configuration is not repeated (15-refused tests the answers to clients).
systemctl stop --quiet junctiond.service junctiond.socket
systemctl start junctiond.socket
echo 'provider = "nobody"' >"$config"
check "a start with an invalid configuration fails" no systemctl start junctiond.service
check "the exit code is 78 (configuration)" prop_is ExecMainStatus 78
check "systemd does not restart the daemon" prop_is NRestarts 0
check "an error in the journal names the setting" grep -q 'provider' <(logged -u junctiond.service -p err)
cp "$scratch/config.as-installed" "$config"
check "after a correction of the configuration a restart succeeds" systemctl restart junctiond.service
check "the session is back" field_is userId "$user"
