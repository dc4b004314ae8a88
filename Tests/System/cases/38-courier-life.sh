#!/usr/bin/env bash
# The daemon gives up a courier that hangs, reports one that it may not use, and no courier outlives its daemon.
. "${0%/*}/../lib.sh"
fresh

sign_in anna

# ---- a courier that hangs ----

# Short limits, because the daemon gives up after all of them; and a long time until systemd kills the courier.
drop_in unwatched junctiond-courier@.service <<'END'
[Service]
WatchdogSec=infinity
END
printf '[network]\nresolveTimeout = 1\nconnectTimeout = 1\nrequestTimeout = 1\n' >"$config"
systemctl restart junctiond.service
check "a daemon with short limits has a courier" await 30 calls
courier=$(courier_pid)
kill -STOP "$courier"
check "the daemon gives up one that hangs" is_unavailable "gets another one" calls
check "and the next request has another courier" await 30 calls
kill -CONT "$courier"
ended() { [[ ! -e /proc/$courier ]]; }
check "the one that was given up ends when it wakes" await 10 ended
no_drop_in unwatched junctiond-courier@.service
cp -f "$scratch/config.as-installed" "$config"
systemctl restart junctiond.service

# ---- its watchdog ----

end_couriers
check "the next one is as shipped" calls
check "it has a watchdog" prop_is WatchdogUSec 1min "$(couriers | head -n 1)"
end_couriers
drop_in watchdog junctiond-courier@.service <<'END'
[Service]
WatchdogSec=10
END
check "the next one has less time" calls
unit=$(couriers)
courier=$(prop MainPID "$unit")
ping=$(prop WatchdogTimestampMonotonic "$unit")
pinged_since() { (($(prop WatchdogTimestampMonotonic "$unit") > $1)); }
check "it sends a watchdog heartbeat" await 25 pinged_since "$ping"
ping=$(prop WatchdogTimestampMonotonic "$unit")
check "and another one in time" await 25 pinged_since "$ping"
kill -STOP "$courier"
check "systemd kills one that hangs" await 40 ended
check "so it goes on" calls
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
check "in the group its requests go through" calls

# ---- the daemon ends ----

check "a courier is there" no no_courier
systemctl stop --quiet junctiond.service
check "it ends when the daemon is stopped" await 10 no_courier
check "the next daemon has another one" calls
kill -KILL "$(main_pid)"
check "and that ends when the daemon is killed" await 10 no_courier
check "so it goes on" calls
kill -STOP "$(courier_pid)"
systemctl stop --quiet junctiond.service
check "one that hangs ends when the daemon is stopped, too" await 10 no_courier
check "the next daemon has another one" calls
kill -STOP "$(courier_pid)"
kill -KILL "$(main_pid)"
check "and one that hangs ends when the daemon is killed" await 10 no_courier
check "so it goes on" calls
check "all that cost no renewal" is "$(counter exchanges) $(counter refreshes)" "1 0"
