#!/usr/bin/env bash
# What an attacker who has taken over the daemon or the network helper could reach. The daemon cannot open an internet socket. The
# network helper can open one, but cannot read any data of the daemon. Neither of them can connect to the services of the system or run
# another program. A probe tests this: it runs before each program, as the same user and in the same sandbox.
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

# The system bus, systemd-resolved, and another service of any package. A small machine may lack some of them: a stand-in replaces each
# one that does not listen here.
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
as stranger "$probe" "${listeners[@]/#/connect:}" run:/usr/bin/true 2>"$work/any-user"
check "any user can connect to the system bus, to systemd-resolved and to another service, and run a program" \
    all_answer "$work/any-user" yes "${listeners[@]/#/connect:}" run:/usr/bin/true

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
check "no process in the daemon's unit can open an IPv6 socket" answers "$work/daemon" socket:inet6 "$refused"
check "no process in the daemon's unit can open a netlink or packet socket" all_answer "$work/daemon" "$refused" socket:netlink socket:packet
check "a process in the daemon's unit can open a local socket, so the filter refuses the others" answers "$work/daemon" socket:unix yes
check "the daemon's network namespace has only loopback" answers "$work/daemon" interfaces lo
check "the filter is in force for the daemon itself" is "$(seccomp "$pid")" 2
check "the daemon has its own network namespace" no is "$(namespace "$pid")" "$(namespace self)"
check "the provider cannot be reached from the daemon's network namespace" \
    ends_with 7 nsenter --target "$pid" --net curl -sS "$cloud/sandbox/counters"
check "the provider can be reached from this case" counter exchanges
check "a user is signed in all the same" field_is userId "$user"
check "no process in the daemon's unit can connect to the system bus, to systemd-resolved or to another service" \
    all_answer "$work/daemon" "$missing" "${listeners[@]/#/connect:}"
check "no process in the daemon's unit can connect to the service manager" answers "$work/daemon" connect:/run/systemd/private "$denied"
check "no process in the daemon's unit can run another program" all_answer "$work/daemon" "$denied" run:/usr/bin/true run:/bin/sh
check "no process in the daemon's unit can run a program that it has written" all_answer "$work/daemon" "$denied" "${own_folders[@]/#/bring:}"
check "a process in the daemon's unit can run a program that the unit names" answers "$work/daemon" run:/usr/bin/perl yes

# Prints the sockets below /run that a process sees, except those that it needs.
other_sockets() { # PID PATTERN
    find "/proc/$1/root/run" -type s 2>"$work/.errors" | sed "s|^/proc/$1/root||" | grep -Ev "$2" || :
}
needed='^/run/(junctiond/|systemd/((notify|private)$|journal/|userdb/))'
check "the daemon sees the sockets that it needs" is "$(find "/proc/$pid/root$courier_socket" -type s)" "/proc/$pid/root$courier_socket"
check "the daemon sees no other socket below /run" is "$(other_sockets "$pid" "$needed")" ""
check "this machine has other sockets below /run" no is "$(other_sockets self "$needed")" ""
systemctl restart junctiond-courier.socket
end_couriers
check "a socket that is made anew is seen, too" calls
watches() { grep -h '^inotify' "/proc/$1/fdinfo"/* | grep -q " ino:$(stat -c %i "$2" | xargs printf %x) "; } # PID FOLDER
check "the daemon watches the folder of a network manager" watches "$pid" "$network_news"

# ---- the network helper ----

courier=$(courier_pid)
check "a network helper has sent the request" test "$courier" -gt 0
check "the network helper has its own user, not root" test "$(uid "$courier")" -ge 61184 -a "$(uid "$courier")" != "$(uid "$pid")"
check "the network helper has no capability" is "$(capabilities "$courier")" 4
check "the system call filter is in force for the network helper" is "$(seccomp "$courier")" 2
check "the network helper has no credential and no state folder" \
    ends_with 1 grep -qaE 'CREDENTIALS_DIRECTORY|STATE_DIRECTORY|JUNCTIOND_' "/proc/$courier/environ"

secrets=("$state/session.sealed" /var/lib/junctiond/session.sealed "$key" "$config"
    /run/credentials/junctiond.service/junctiond.key /run/credstore.encrypted/junctiond.key "/proc/$pid/environ")
are_there() {
    local file
    for file in "${secrets[@]}"; do [[ -s $file || $file == /proc/* ]] || { echo "there is no $file"; return 1; }; done
}
check "the files for the read probes exist" are_there

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
check "another network helper sends the next request" calls
no_drop_in probe junctiond-courier@.service
probed -u 'junctiond-courier@*' >"$work/courier"
check "a network helper cannot read the state, the key, the configuration or credentials" \
    all_answer "$work/courier" no "${secrets[@]/#/read:}" "${folders[@]}"
check "a network helper cannot write to a system folder" all_answer "$work/courier" no "${places[@]}"
check "a network helper can neither read the daemon's memory nor signal the daemon" all_answer "$work/courier" no "${others[@]:0:2}"
check "a network helper can connect neither to the daemon nor to a network helper" all_answer "$work/courier" no "${others[@]:2:2}"
check "a network helper cannot open a netlink or packet socket" all_answer "$work/courier" "$refused" "${others[@]:4}"
check "a network helper can connect to the provider and read /etc/passwd" all_answer "$work/courier" yes socket:inet reach:8787 read:/etc/passwd
check "a network helper can connect to systemd-resolved" answers "$work/courier" "connect:$resolved" yes
check "a network helper can connect neither to the system bus nor to another service" \
    all_answer "$work/courier" "$missing" "connect:$bus" "connect:$other"
check "a network helper can run no other program" all_answer "$work/courier" "$denied" run:/usr/bin/true run:/bin/sh
check "a network helper cannot run a program that it has written" all_answer "$work/courier" "$denied" bring:/tmp bring:/var/tmp bring:/dev/shm
check "a network helper can run a program that its unit names" answers "$work/courier" run:/usr/bin/perl yes
courier=$(courier_pid)
check "a network helper sees no other socket below /run" \
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
check "junction-online.service can connect to the daemon, and can run a program that its unit names" \
    all_answer "$work/online" yes "connect:$JUNCTIOND_SOCKET" run:/usr/bin/perl
check "junction-online.service can connect to no other service" all_answer "$work/online" "$missing" "${listeners[@]/#/connect:}"
check "junction-online.service can run no other program" answers "$work/online" run:/usr/bin/true "$denied"
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
    check "an entry applies to a user that only the service manager knows" \
        setpriv --reuid "$visitor" --regid "$visitor" --groups junction /usr/bin/junctionctl status
    check "the entry allows other users nothing" ends_with 77 as app junctionctl status
    cp -f "$scratch/config.as-installed" "$config"
    systemctl restart junctiond.service
    pid=$(main_pid)
fi

# ---- other users ----

check "only the group junctiond-keeper may use the network helper's socket" \
    is "$(stat -c '%F %a %U:%G' "$courier_socket")" "socket 660 root:junctiond-keeper"
check "the daemon is in the group junctiond-keeper" grep -Eq "^Groups:.*\b$(getent group junctiond-keeper | cut -d: -f 3)\b" "/proc/$pid/status"
for name in app kiosk stranger; do
    check "$name cannot connect to the network helper's socket" has "$(as "$name" "$probe" "connect:$courier_socket" 2>&1)" "no, Permission denied"
done

# ---- an idle network helper ----

end_couriers
before=$EPOCHREALTIME
check "another request succeeds" calls
courier=$(courier_pid)
check "the next request has the same network helper" is "$(calls >"$work/.api"; courier_pid)" "$courier"
check "the network helper ends half a minute after the last request" await 90 no_courier
check "the network helper ran for at least half a minute" test $(((${EPOCHREALTIME/./} - ${before/./}) / 1000000)) -ge 30
check "no network helper has failed" is "$(systemctl list-units --plain --no-legend --failed 'junctiond-courier@*')" ""
check "the daemon's process is the same" is "$(main_pid)" "$pid"
check "the next request gets another network helper" calls
