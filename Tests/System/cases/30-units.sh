#!/usr/bin/env bash
# Access by unit: two client units that differ only in their names, and units that pretend to be the first one.
. "${0%/*}/../lib.sh"
fresh

cat >"$fragments/50-health-sync.toml" <<'END'
[[access]]
allow = ["status", "token"]
unit = "health-sync.service"
END
sign_in anna
token=$(token)

runs() { systemctl start "$1"; }

was_refused() { # NAME
    no systemctl start "$1" && prop_is ExecMainStatus 77 "$1" && is "$(<"$work/$1.out")" "" &&
        grep -q permissionDenied "$work/$1.err"
}

is_audited() { # UNIT: a refusal with all that is known about the caller
    local entry
    entry=$(logged -o json "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UNIT=$1" _SYSTEMD_UNIT=junctiond.service)
    has "$entry" "\"JUNCTIOND_PEER_UID\":\"$(id -u app)\"" '"JUNCTIOND_METHOD":"token.get"' \
        '"JUNCTIOND_CAPABILITY":"token"' '"JUNCTIOND_PEER_PID":"'
}

client_unit health-sync.service "/usr/bin/junctionctl token"
client_unit other.service "/usr/bin/junctionctl token"

check "a unit with an access entry gets a token" runs health-sync.service
check "the token is the session's" is "$(<"$work/health-sync.service.out")" "$token"
mark
check "the same program as the same user in another unit is refused" was_refused other.service
check "the audit of the refusal names the unit" await 5 is_audited other.service

# With delegation a service can create control groups with any name.
cat >"$work/pretend" <<'END'
#!/bin/bash
# pretend SUBGROUP: asks for a token from a control group below this unit's.
set -euo pipefail
own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir -p "$own/$1"
echo $$ >"$own/$1/cgroup.procs"
[[ $(</proc/self/cgroup) == *".service/$1" ]] || exit 2
exec /usr/bin/junctionctl token
END
chmod 755 "$work/pretend"
number=0
for group in health-sync.service system.slice/health-sync.service app.slice/health-sync.service; do
    number=$((number + 1))
    client_unit "impostor$number.service" "$work/pretend $group"
    check "a delegated control group $group is refused" was_refused "impostor$number.service"
    check "the audit names the real unit (impostor$number.service)" await 5 is_audited "impostor$number.service"
done
# The units of a user's service manager are below one system unit.
client_unit user@4711.service "$work/pretend app.slice/health-sync.service"
check "a unit of a user's own service manager is refused" was_refused user@4711.service
check "a caller outside these units is refused" ends_with 77 as app junctionctl token
check "root may get a token" junctionctl token
check "the allowed unit still gets its token" runs health-sync.service
