#!/usr/bin/env bash
# systemd kills a daemon whose event loop hangs, and starts it again with its session.
. "${0%/*}/../lib.sh"
fresh
drop_in watchdog <<'END'
[Service]
WatchdogSec=6
RestartSec=100ms
END

sign_in anna
token=$(token)
old=$(main_pid)
ping=$(prop WatchdogTimestampMonotonic)

pinged_since() { (($(prop WatchdogTimestampMonotonic) > $1)); }
was_replaced() { (($(main_pid) > 0 && $(main_pid) != old)); }

check "the shipped unit has a watchdog" \
    grep -q '^WatchdogSec=' /usr/lib/systemd/system/junctiond.service
check "the daemon sends a watchdog heartbeat" await 15 pinged_since "$ping"
ping=$(prop WatchdogTimestampMonotonic)
check "the daemon sends another watchdog heartbeat in time" await 15 pinged_since "$ping"
check "the process is the same" is "$(main_pid)" "$old"

kill -STOP "$old"
check "systemd reports a watchdog timeout of a stopped daemon" await_journal 30 'Watchdog timeout' _PID=1 UNIT=junctiond.service
check "systemd starts another process" await 15 was_replaced
check "the user is signed in" junctionctl wait --for fresh --timeout 20
check "the user is the same" field_is userId "$user"
check "the token is the same" is "$(token)" "$token"
check "the provider got no further request" is "$(counter exchanges) $(counter refreshes)" "1 0"
check "the service manager counts one restart" prop_is NRestarts 1
