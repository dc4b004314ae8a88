#!/usr/bin/env bash
# The daemon cannot open an internet socket; its courier can, and cannot read anything of the daemon's. A probe that runs in
# front of each, as the same user and in the same sandbox, tries it.
. "${0%/*}/../lib.sh"
fresh

courier_socket=/run/junctiond-courier.sock
probe=/ci/suite/probe

# What a probe in one of the unit's processes has said since the mark.
probed() { logged -o cat "$@" | grep '^probe '; }
answers() { grep -F "probe $2: $3" "$1" || { cat "$1"; return 1; }; } # FILE THING ANSWER
all_answer() { # FILE ANSWER THING...
    local file=$1 answer=$2 thing
    shift 2
    for thing in "$@"; do answers "$file" "$thing" "$answer" || return 1; done
}

namespace() { readlink "/proc/$1/ns/net"; }
uid() { stat -c %u "/proc/$1"; }
seccomp() { sed -n 's/^Seccomp:\t//p' "/proc/$1/status"; }
capabilities() { sed -n 's/^Cap\(Prm\|Eff\|Bnd\|Amb\):\t0*$/none/p' "/proc/$1/status" | wc -l; }

# ---- the daemon ----

drop_in probe <<END
[Service]
ExecStartPre=$probe socket:inet socket:inet6 socket:netlink socket:packet socket:unix interfaces reach:8787
END
sign_in anna
pid=$(main_pid)
no_drop_in probe
probed _SYSTEMD_UNIT=junctiond.service >"$work/keeper"

refused="no, Address family not supported by protocol"
check "in the daemon's unit nobody can open an IPv4 socket" answers "$work/keeper" socket:inet "$refused"
check "nor an IPv6 one" answers "$work/keeper" socket:inet6 "$refused"
check "nor any other but a local one" all_answer "$work/keeper" "$refused" socket:netlink socket:packet
check "a local one can be opened: it is the filter that refuses" answers "$work/keeper" socket:unix yes
check "nothing is in its network but its own loopback" answers "$work/keeper" interfaces lo
check "the filter is in force for the daemon itself" is "$(seccomp "$pid")" 2
check "its network is one of its own" no is "$(namespace "$pid")" "$(namespace self)"
check "from there the provider cannot be reached, even without the filter" \
    ends_with 7 nsenter --target "$pid" --net curl -sS "$cloud/sandbox/counters"
check "from here it can" counter exchanges
check "nevertheless a user was signed in" field_is userId "$user"

# ---- the courier ----

courier=$(courier_pid)
check "a courier carried it" test "$courier" -gt 0
check "it is a user of its own, and not root" test "$(uid "$courier")" -ge 61184 -a "$(uid "$courier")" != "$(uid "$pid")"
check "it has no capability" is "$(capabilities "$courier")" 4
check "a filter is in force for it, too" is "$(seccomp "$courier")" 2
check "it was told of no credential and no state" \
    ends_with 1 grep -qaE 'CREDENTIALS_DIRECTORY|STATE_DIRECTORY|JUNCTIOND_' "/proc/$courier/environ"

secrets=("$state/session.sealed" /var/lib/junctiond/session.sealed "$key" "$config"
    /run/credentials/junctiond.service/junctiond.key /run/credstore.encrypted/junctiond.key "/proc/$pid/environ")
are_there() {
    local file
    for file in "${secrets[@]}"; do [[ -s $file || $file == /proc/* ]] || { echo "there is no $file"; return 1; }; done
}
check "there is what it could read" are_there

end_couriers
folders=(list:"$state" list:/var/lib/private list:/var/lib/junctiond-key list:/run/credentials list:/run/credstore
    list:/run/junctiond list:"${config%/*}")
places=(write:/var/lib write:/etc write:/run write:/usr/bin write:/home)
others=(look:"$pid" signal:"$pid" connect:"$JUNCTIOND_SOCKET" connect:"$courier_socket" socket:netlink socket:packet)
drop_in probe junctiond-courier@.service <<END
[Service]
ExecStartPre=$probe ${secrets[*]/#/read:} ${folders[*]} ${places[*]} ${others[*]} socket:inet reach:8787 read:/etc/passwd
END
mark
check "another courier carries the next request" calls
no_drop_in probe junctiond-courier@.service
probed -u 'junctiond-courier@*' >"$work/courier"
check "it reads neither state nor key, nor configuration, nor credentials" \
    all_answer "$work/courier" no "${secrets[@]/#/read:}" "${folders[@]}"
check "it writes nowhere" all_answer "$work/courier" no "${places[@]}"
check "it can neither look at the daemon nor signal to it" all_answer "$work/courier" no "${others[@]:0:2}"
check "it can connect neither to the daemon nor to a courier" all_answer "$work/courier" no "${others[@]:2:2}"
check "it has no other kind of socket" all_answer "$work/courier" "$refused" "${others[@]:4}"
check "it can do what it is for" all_answer "$work/courier" yes socket:inet reach:8787 read:/etc/passwd

# ---- everybody else ----

check "the courier's socket is for group junctiond-keeper, and for nobody else" \
    is "$(stat -c '%F %a %U:%G' "$courier_socket")" "socket 660 root:junctiond-keeper"
check "the daemon is in it" grep -Eq "^Groups:.*\b$(getent group junctiond-keeper | cut -d: -f 3)\b" "/proc/$pid/status"
for name in app kiosk stranger; do
    check "$name cannot connect to it" has "$(as "$name" "$probe" "connect:$courier_socket" 2>&1)" "no, Permission denied"
done

# ---- when there is nothing to carry ----

end_couriers
before=$EPOCHREALTIME
check "one more request" calls
courier=$(courier_pid)
check "the courier stays a while for the next one" is "$(calls >"$work/.api"; courier_pid)" "$courier"
check "and goes when none has come for half a minute" await 90 no_courier
check "not before" test $(((${EPOCHREALTIME/./} - ${before/./}) / 1000000)) -ge 30
check "it was not killed: no courier has failed" is "$(systemctl list-units --plain --no-legend --failed 'junctiond-courier@*')" ""
check "the daemon is the same" is "$(main_pid)" "$pid"
check "the next request has a courier again" calls
