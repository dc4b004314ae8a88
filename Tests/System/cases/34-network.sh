#!/usr/bin/env bash
# What an attacker who has taken over the daemon or the network helper could reach. The daemon cannot open an internet socket; the helper
# can, and cannot read anything of the daemon's. Neither can talk to the services of the system, nor run another program. A probe
# that runs in front of each, as the same user and in the same sandbox, tries it.
. "${0%/*}/../lib.sh"
fresh

courier_socket=/run/junctiond/courier.sock
probe=/ci/suite/probe
# Only the programs that the probe needs can be run.
probe_can_run="ExecPaths=$probe /usr/bin/perl"
denied="no, Permission denied"
missing="no, No such file or directory"

# Prints the output of a probe in one of the unit's processes since the mark.
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

# ---- services that listen for every user ----

# The system bus, systemd-resolved, and a service as any package may bring it. A small machine has not all of them: what does not
# listen here gets a stand-in at its place.
bus=/run/dbus/system_bus_socket
resolved=/run/systemd/resolve/io.systemd.Resolve
other=/run/other-service.sock
listeners=("$bus" "$resolved" "$other")
number=0
for listener in "${listeners[@]}"; do
    [[ ! -S $listener ]] || continue
    number=$((number + 1))
    unit "stand-in$number@.service" <<END
[Service]
ExecStart=/bin/cat
StandardInput=socket
END
    unit "stand-in$number.socket" <<END
[Socket]
ListenStream=$listener
SocketMode=0666
Accept=yes
RemoveOnStop=yes
END
    systemctl start "stand-in$number.socket"
done
as stranger "$probe" "${listeners[@]/#/connect:}" run:/usr/bin/true 2>"$work/anybody"
check "any user can connect to the system bus, to systemd-resolved and to another service, and run a program" \
    all_answer "$work/anybody" yes "${listeners[@]/#/connect:}" run:/usr/bin/true

# ---- the daemon ----

own_folders=("$state" /tmp /var/tmp /dev/shm)
# The folder of a network manager, which the daemon watches for network changes.
network_news=/run/NetworkManager
mkdir -p "$network_news"
drop_in probe <<END
[Service]
$probe_can_run
ExecStartPre=$probe socket:inet socket:inet6 socket:netlink socket:packet socket:unix interfaces reach:8787
ExecStartPre=$probe ${listeners[*]/#/connect:} connect:/run/systemd/private run:/usr/bin/perl
ExecStartPre=$probe run:/usr/bin/true run:/bin/sh ${own_folders[*]/#/bring:}
END
sign_in anna
pid=$(main_pid)
no_drop_in probe
probed _SYSTEMD_UNIT=junctiond.service >"$work/daemon"

refused="no, Address family not supported by protocol"
check "no process in the daemon's unit can open an IPv4 socket" answers "$work/daemon" socket:inet "$refused"
check "nor an IPv6 one" answers "$work/daemon" socket:inet6 "$refused"
check "nor any other but a local one" all_answer "$work/daemon" "$refused" socket:netlink socket:packet
check "a local one can be opened: it is the filter that refuses" answers "$work/daemon" socket:unix yes
check "nothing is in its network but its own loopback" answers "$work/daemon" interfaces lo
check "the filter is in force for the daemon itself" is "$(seccomp "$pid")" 2
check "its network is one of its own" no is "$(namespace "$pid")" "$(namespace self)"
check "from there the provider cannot be reached, even without the filter" \
    ends_with 7 nsenter --target "$pid" --net curl -sS "$cloud/sandbox/counters"
check "from here it can" counter exchanges
check "nevertheless a user was signed in" field_is userId "$user"
check "no process in the daemon's unit can connect to the system bus, to systemd-resolved or to another service" \
    all_answer "$work/daemon" "$missing" "${listeners[@]/#/connect:}"
check "nor to the service manager" answers "$work/daemon" connect:/run/systemd/private "$denied"
check "nor run another program" all_answer "$work/daemon" "$denied" run:/usr/bin/true run:/bin/sh
check "nor one that it has written itself" all_answer "$work/daemon" "$denied" "${own_folders[@]/#/bring:}"
check "a program that the unit names can be run: it is the unit that refuses" answers "$work/daemon" run:/usr/bin/perl yes

# Prints the sockets below /run that a process sees, except those that it needs.
other_sockets() { # PID PATTERN
    find "/proc/$1/root/run" -type s 2>"$work/.errors" | sed "s|^/proc/$1/root||" | grep -Ev "$2" || :
}
needed='^/run/(junctiond/|systemd/((notify|private)$|journal/|userdb/))'
check "the daemon sees the sockets that it needs" is "$(find "/proc/$pid/root$courier_socket" -type s)" "/proc/$pid/root$courier_socket"
check "and no other below /run" is "$(other_sockets "$pid" "$needed")" ""
check "this machine has others" no is "$(other_sockets self "$needed")" ""
systemctl restart junctiond-courier.socket
end_couriers
check "a socket that is made anew is seen, too" calls
watches() { grep -h '^inotify' "/proc/$1/fdinfo"/* | grep -q " ino:$(stat -c %i "$2" | xargs printf %x) "; } # PID FOLDER
check "the daemon watches the folder of a network manager" watches "$pid" "$network_news"

# ---- the courier ----

courier=$(courier_pid)
check "a courier carried it" test "$courier" -gt 0
check "it has its own user, not root" test "$(uid "$courier")" -ge 61184 -a "$(uid "$courier")" != "$(uid "$pid")"
check "it has no capability" is "$(capabilities "$courier")" 4
check "a filter is in force for it, too" is "$(seccomp "$courier")" 2
check "it has no credential and no state folder" \
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
$probe_can_run
ExecStartPre=$probe ${secrets[*]/#/read:} ${folders[*]} ${places[*]} ${others[*]} socket:inet reach:8787 read:/etc/passwd
ExecStartPre=$probe ${listeners[*]/#/connect:} run:/usr/bin/perl run:/usr/bin/true run:/bin/sh bring:/tmp bring:/var/tmp bring:/dev/shm
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
check "it can ask systemd-resolved for an address" answers "$work/courier" "connect:$resolved" yes
check "it can talk neither to the system bus nor to another service" \
    all_answer "$work/courier" "$missing" "connect:$bus" "connect:$other"
check "it can run no other program" all_answer "$work/courier" "$denied" run:/usr/bin/true run:/bin/sh
check "nor one that it has written itself" all_answer "$work/courier" "$denied" bring:/tmp bring:/var/tmp bring:/dev/shm
check "a program that its unit names can be run: it is the unit that refuses" answers "$work/courier" run:/usr/bin/perl yes
courier=$(courier_pid)
check "it sees no other socket below /run" \
    is "$(other_sockets "$courier" '^/run/systemd/(notify$|resolve/)|^/run/(nscd|avahi-daemon|NetworkManager|resolvconf|connman|dhcpcd)/')" ""

# ---- junction-online.service ----

drop_in probe junction-online.service <<END
[Service]
$probe_can_run
ExecStartPre=$probe ${listeners[*]/#/connect:} connect:$JUNCTIOND_SOCKET run:/usr/bin/perl run:/usr/bin/true
END
mark
check "junction-online.target is reached" systemctl start junction-online.target
no_drop_in probe junction-online.service
probed _SYSTEMD_UNIT=junction-online.service >"$work/online"
check "what waits for it can talk to the daemon, and can run what its unit names" \
    all_answer "$work/online" yes "connect:$JUNCTIOND_SOCKET" run:/usr/bin/perl
check "and to no other service" all_answer "$work/online" "$missing" "${listeners[@]/#/connect:}"
check "nor can it run another program" answers "$work/online" run:/usr/bin/true "$denied"
systemctl stop --quiet junction-online.target junction-online.service

# ---- user databases ----

# A user that only the service manager knows, by nss-systemd, which may be missing on a small system.
unit visitor.service <<'END'
[Service]
DynamicUser=yes
User=visitor
ExecStart=/usr/bin/sleep infinity
END
systemctl start visitor.service
if visitor=$(getent passwd visitor | cut -d : -f 3) && [[ $visitor ]]; then
    printf '[[access]]\nallow = ["status"]\nuser = "visitor"\n' >"$config"
    systemctl restart junctiond.service
    check "a user who is known to a service of the system alone has what an entry allows" \
        setpriv --reuid "$visitor" --regid "$visitor" --groups junction /usr/bin/junctionctl status
    check "others have nothing by it" ends_with 77 as app junctionctl status
    cp -f "$scratch/config.as-installed" "$config"
    systemctl restart junctiond.service
    pid=$(main_pid)
fi

# ---- other users ----

check "only the group junctiond-keeper may use the courier's socket" \
    is "$(stat -c '%F %a %U:%G' "$courier_socket")" "socket 660 root:junctiond-keeper"
check "the daemon is in it" grep -Eq "^Groups:.*\b$(getent group junctiond-keeper | cut -d: -f 3)\b" "/proc/$pid/status"
for name in app kiosk stranger; do
    check "$name cannot connect to it" has "$(as "$name" "$probe" "connect:$courier_socket" 2>&1)" "no, Permission denied"
done

# ---- an idle courier ----

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
