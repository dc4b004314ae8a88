#!/usr/bin/env bash
# A service gets the token by systemd's own LoadCredential=, without code: a socket that somebody has to enable.
. "${0%/*}/../lib.sh"
fresh

socket=/run/junctiond/credentials.sock

# A stock unit. What its command prints is in $work/NAME.out.
loader() { # NAME CREDENTIAL COMMAND
    : >"$work/$1.out"
    unit "$1" <<END
[Service]
Type=oneshot
DynamicUser=yes
LoadCredential=$2:$socket
ExecStart=$3
StandardOutput=file:$work/$1.out
END
}

# Connects from an abstract address, and prints what comes. Perl is part of every Debian.
asks_from() { # ADDRESS
    /usr/bin/perl -e '
        use Socket;
        socket(my $peer, AF_UNIX, SOCK_STREAM, 0) or die;
        bind($peer, pack_sockaddr_un("\0$ARGV[0]")) or die "bind: $!";
        connect($peer, pack_sockaddr_un($ARGV[1])) or die "connect: $!";
        print while <$peer>;
    ' "$1" "$socket" 2>&1
}
asks_as() { # USER ADDRESS
    as "$1" bash -c "$(declare -f asks_from); socket=$socket; asks_from $2"
}

is_refused() { # UNIT TEXT...
    local unit=$1
    shift
    has "$(logged -o json "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UNIT=$unit" JUNCTIOND_CREDENTIAL=access-token)" "$@"
}

# ---- it is opened ----

# As long as docs/service.md allows: 83 bytes together with `access-token`.
long=$(printf 'x%.0s' {1..63}).service
sign_in anna
cat >"$config" <<END
[[access]]
allow = ["token"]
unit = "loader.service"

[[access]]
allow = ["token"]
unit = "$long"

[[access]]
allow = ["status"]
unit = "viewer.service"
END
# It is read last, as docs/service.md says.
cat >"$fragments/90-group.toml" <<END
[[access]]
allow = ["status", "token"]
group = "junction"
END
# The entry and the unit of docs/service.md.
guide() { sed -n "\|^# $1\$|,/^\`\`\`\$/p" /usr/share/doc/junctiond/docs/service.md | sed '$d'; } # FILE
guide /etc/junctiond/conf.d/50-report.toml >"$fragments/50-report.toml"
systemctl reload junctiond.service
# shellcheck disable=SC2016 # The service manager knows the variable.
prints='/usr/bin/cat ${CREDENTIALS_DIRECTORY}'
loader loader.service access-token "$prints/access-token"
check "it is off until somebody wants it" ends_with 1 systemctl is-enabled --quiet junctiond-credentials.socket
check "then a unit that loads from it does not start" no systemctl start loader.service
check "because of its credentials" prop_is ExecMainStatus 243 loader.service
old=$(main_pid)
check "it can be enabled and started while the daemon runs" systemctl enable --quiet --now junctiond-credentials.socket
check "the daemon is restarted for it" await 10 restarted
check "it is for root, and for nobody else" is "$(stat -c '%F %a %U:%G' "$socket")" "socket 600 root:root"
old=$(main_pid)
check "to start it again is nothing" systemctl start junctiond-credentials.socket
check "and the daemon goes on" is "$(main_pid)" "$old"

# ---- what a unit gets ----

mark
check "a unit with an entry starts" systemctl start loader.service
check "and has the session's token" is "$(secret <"$work/loader.service.out")" "$(token)"
check "the audit names the unit" await_journal 10 . \
    "MESSAGE_ID=$TOKEN_ID" JUNCTIOND_PEER_UNIT=loader.service JUNCTIOND_PEER_UID=0 _SYSTEMD_UNIT=junctiond.service
unit report.service < <(guide /etc/systemd/system/report.service | sed "s|https://api.example.com/me|$cloud/v2/user/$user|")
drop_in output report.service <<<"[Service]
StandardOutput=file:$work/report.service.out"
check "curl, unmodified, calls the API by the unit of the guide" systemctl start report.service
check "as the signed-in user" has "$(<"$work/report.service.out")" "$user"
rm -rf "$runtime_units/report.service.d"
loader "$long" access-token "$prints/access-token"
check "a unit with the longest name" systemctl start "$long"
check "has the token" is "$(secret <"$work/$long.out")" "$(token)"
loader viewer.service user-id "$prints/user-id"
check "a unit with the right to the status starts" systemctl start viewer.service
check "and has the user's id" is "$(<"$work/viewer.service.out")" "$user"
loader viewer.service status "$prints/status"
check "another start" systemctl start viewer.service
check "has the status" has "$(<"$work/viewer.service.out")" "\"userId\":\"$user\"" '"state":"established"'

# ---- who gets nothing ----

mark
loader viewer.service access-token "$prints/access-token"
check "without the right to the token a unit starts" systemctl start viewer.service
check "with an empty credential" is "$(wc -c <"$work/viewer.service.out")" 0
check "the journal says what to add" await 5 is_refused viewer.service "'token'" 'unit = \"viewer.service\"'
loader guarded.service access-token "/usr/bin/echo it has run"
drop_in guard guarded.service <<'END'
[Service]
ExecStartPre=/usr/bin/test -s %d/access-token
END
check "a unit that tests the file first" no systemctl start guarded.service
check "does not run without the credential" is "$(<"$work/guarded.service.out")" ""
check "an entry for a group gives a unit nothing" await 5 is_refused guarded.service "before all other entries"
rm -rf "$runtime_units/guarded.service.d"

look_alike=adf9d86b6eda275e/unit/loader.service/access-token
check "another user cannot connect" has "$(asks_as kiosk "$look_alike" || :)" "connect: Permission denied"
chmod 666 "$socket"
mark
check "and if it could, would get no byte from a look-alike address" is "$(asks_as kiosk "$look_alike")" ""
check "which the journal says" await_journal 10 . \
    "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)" _SYSTEMD_UNIT=junctiond.service
chmod 600 "$socket"
for address in "${look_alike^^}" "$look_alike/" "0$look_alike" "${look_alike/unit/user}" "${look_alike/access/refresh}"; do
    check "root gets nothing from $address" is "$(asks_from "$address")" ""
done

# ---- without a daemon, and without a user ----

systemctl stop --quiet junctiond.service
: >"$work/loader.service.out"
check "after a stop of the daemon a unit starts it" systemctl start loader.service
check "and has the token" is "$(secret <"$work/loader.service.out")" "$(token)"
junctionctl sign-out >"$work/.sign-out"
mark
# The service manager does not shorten the file.
: >"$work/loader.service.out"
check "with nobody signed in a unit starts" systemctl start loader.service
check "with an empty credential, too" is "$(wc -c <"$work/loader.service.out")" 0
check "and the journal says why" await 5 is_refused loader.service JUNCTIOND_ERROR
echo 'nonsense = 1' >>"$config"
systemctl stop --quiet junctiond.service
: >"$work/loader.service.out"
check "with a configuration that is refused a unit starts" systemctl start loader.service
check "with an empty credential as well" is "$(wc -c <"$work/loader.service.out")" 0
check "and the status of the daemon says why" has "$(prop StatusText)" nonsense
check "it can be closed" systemctl disable --quiet --now junctiond-credentials.socket
check "then a unit does not start" no systemctl start loader.service
