#!/usr/bin/env bash
# A daemon that was killed comes back by itself, with the session it had.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
token=$(token)
old=$(main_pid)

kill -KILL "$old"
check "a request after SIGKILL waits for the next daemon" is "$(token)" "$token"
check "the next daemon is another process" no is "$(main_pid)" "$old"
check "the service manager started it" prop_is NRestarts 1
check "the user is still signed in" field_is userId "$user"
check "with the same token generation" field_is generation 1
check "the provider was not asked" is "$(counter exchanges) $(counter refreshes)" "1 0"
check "renewing works" junctionctl renew
check "no sign-in was broken by it" counter_is familyRevocations 0

# However often: the service manager never gives up.
drop_in quick <<'END'
[Service]
RestartSec=20ms
# Known to systemd from 254 on, where the delay grows otherwise.
RestartSteps=0
END
token=$(token)

survives() { # TIMES
    local round old
    for ((round = 0; round < $1; round++)); do
        old=$(main_pid)
        kill -KILL "$old" && is "$(junctionctl token)" "$token" && no is "$(main_pid)" "$old" || return 1
    done
}

check "it comes back eight times in a row" survives 8
check "the provider was not asked" is "$(counter exchanges) $(counter refreshes)" "1 1"
