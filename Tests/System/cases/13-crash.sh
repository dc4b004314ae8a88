#!/usr/bin/env bash
# systemd restarts a killed daemon, with its session.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
token=$(token)
old=$(main_pid)

kill -KILL "$old"
check "a request after SIGKILL waits for the next daemon" is "$(token)" "$token"
check "the next daemon is another process" no is "$(main_pid)" "$old"
check "the service manager counts one restart" prop_is NRestarts 1
check "a restart begins after 100 ms" prop_is RestartUSec 100ms
check "the user is still signed in" field_is userId "$user"
check "the token generation is the same" field_is generation 1
check "the provider got no further request" is "$(counter exchanges) $(counter refreshes)" "1 0"
check "a renewal succeeds" junctionctl renew
check "the provider revoked no token family" counter_is familyRevocations 0

# The service manager restarts it without limit, and with a growing delay.
token=$(token)
mark

survives() { # TIMES
    local round old
    for ((round = 0; round < $1; round++)); do
        old=$(main_pid)
        kill -KILL "$old" && is "$(junctionctl token)" "$token" && no is "$(main_pid)" "$old" || return 1
    done
}
delays() { logged -o cat -u junctiond.service | grep -o 'the next start waits [0-9]* ms' | grep -o '[0-9]*' | paste -sd ' '; }

check "the first restart has no further delay" is "$(delays)" ""
check "the daemon restarts four more times with its session" survives 4
check "the delay doubles with each crash" is "$(delays)" "200 400 800 1600"
check "the provider got no further request" is "$(counter exchanges) $(counter refreshes)" "1 1"

kill -KILL "$(main_pid)"
await 5 prop_is SubState start-pre
old=$(prop ExecMainPID)
check "systemctl restart has no delay" systemctl restart junctiond.service
check "systemctl restart resets the count" prop_is NRestarts 0
check "systemctl restart starts another process" no is "$(main_pid)" "$old"
check "the session is the same" is "$(junctionctl token)" "$token"

# The script alone, with a scripted service manager.
mkdir -p "$work/bin"
printf '#!/bin/sh\ncat %s\n' "$work/restarts" >"$work/bin/systemctl"
printf '#!/bin/sh\necho "sleep $1"\n' >"$work/bin/sleep"
chmod 755 "$work/bin/systemctl" "$work/bin/sleep"
delay_after() { # NRESTARTS CRASHES SECONDS
    echo "$1" >"$work/restarts"
    echo "$2 $(($(cut -d. -f1 /proc/uptime) - $3))" >/run/junctiond/.restarts-junctiond.service
    PATH=$work/bin:$PATH /usr/lib/junctiond/restart-delay junctiond.service | grep -o 'sleep .*' || echo none
}
check "systemctl start and the first restart have no delay" is "$(delay_after 0 7 3) $(delay_after 1 0 3)" "none none"
check "the delay is at most half a minute" \
    is "$(delay_after 2 1 3) $(delay_after 9 8 3) $(delay_after 900 899 3)" "sleep 0.200 sleep 25.600 sleep 25.600"
check "a run of a minute resets the count" is "$(delay_after 7 6 60)" none
check "the next crash counts as the first one" is "$(cut -d' ' -f1 /run/junctiond/.restarts-junctiond.service)" 0
for garbage in "" junk "08 09" "5 100 more"; do
    echo "$garbage" >/run/junctiond/.restarts-junctiond.service
    check "an unreadable count ('$garbage') is ignored" /usr/lib/junctiond/restart-delay junctiond.service
done
