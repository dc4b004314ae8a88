#!/usr/bin/env bash
# The daemon gives up a network helper that hangs, and reports one that it may not use. Every network helper ends with its daemon.
. "${0%/*}/../lib.sh"
fresh

sign_in anna

# ---- a network helper that hangs ----

# Short limits, because the daemon gives up after all of them; and a long time until systemd kills the network helper.
drop_in unwatched junctiond-courier@.service <<'END'
[Service]
WatchdogSec=infinity
END
printf '[network]\nresolveTimeout = 1\nconnectTimeout = 1\nrequestTimeout = 1\n' >"$config"
systemctl restart junctiond.service
check "a daemon with short limits has a network helper" await 30 calls
courier=$(courier_pid)
kill -STOP "$courier"
check "the daemon gives up a network helper that hangs" is_unavailable "gets another helper" calls
check "the next request has another network helper" await 30 calls
kill -CONT "$courier"
ended() { [[ ! -e /proc/$courier ]]; }
check "the abandoned network helper ends when it resumes" await 10 ended
no_drop_in unwatched junctiond-courier@.service
cp -f "$scratch/config.as-installed" "$config"
systemctl restart junctiond.service

# ---- its watchdog ----

end_couriers
check "the next network helper runs with the shipped unit" calls
check "the network helper has a watchdog of one minute" prop_is WatchdogUSec 1min "$(couriers | head -n 1)"
end_couriers
drop_in watchdog junctiond-courier@.service <<'END'
[Service]
WatchdogSec=10
END
check "the next network helper has a shorter watchdog" calls
unit=$(couriers)
courier=$(prop MainPID "$unit")
ping=$(prop WatchdogTimestampMonotonic "$unit")
pinged_since() { (($(prop WatchdogTimestampMonotonic "$unit") > $1)); }
check "the network helper sends a watchdog heartbeat" await 25 pinged_since "$ping"
ping=$(prop WatchdogTimestampMonotonic "$unit")
check "the network helper sends another watchdog heartbeat in time" await 25 pinged_since "$ping"
kill -STOP "$courier"
check "systemd kills a network helper that hangs" await 40 ended
check "the next request succeeds" calls
no_drop_in watchdog junctiond-courier@.service
end_couriers

# ---- not allowed ----

drop_in without-group <<'END'
[Service]
SupplementaryGroups=
END
systemctl restart junctiond.service
check "a daemon that is not in the socket's group reports the group" \
    is_unavailable "SupplementaryGroups=junctiond-keeper" calls
no_drop_in without-group
systemctl restart junctiond.service
check "in the group the daemon's requests succeed" calls

# ---- the daemon ends ----

check "a network helper runs" no no_courier
systemctl stop --quiet junctiond.service
check "the network helper ends when the daemon is stopped" await 10 no_courier
check "the next daemon has another network helper" calls
kill -KILL "$(main_pid)"
check "the network helper ends when the daemon is killed" await 10 no_courier
check "the next request succeeds" calls
kill -STOP "$(courier_pid)"
systemctl stop --quiet junctiond.service
check "a network helper that hangs ends when the daemon is stopped" await 10 no_courier
check "the next daemon has another network helper" calls
kill -STOP "$(courier_pid)"
kill -KILL "$(main_pid)"
check "a network helper that hangs ends when the daemon is killed" await 10 no_courier
check "the next request succeeds" calls
check "the provider got one exchange and no renewal" is "$(counter exchanges) $(counter refreshes)" "1 0"
