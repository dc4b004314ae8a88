#!/usr/bin/env bash
# The state belongs to a dynamic user, outlives the process, and is sealed.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
token=$(token)
pid=$(main_pid)
uid=$(stat -c %u "/proc/$pid")

modes_are_closed() {
    is "$(stat -c %a "$state")" 700 &&
        is "$(find "$state" -mindepth 1 -type f ! -perm 600 -print)" "" &&
        is "$(find "$state" ! -uid "$uid" -print)" ""
}

holds_no_secret() { # FOLDER: it must also contain a session
    test -s "$1/session.sealed" && ends_with 1 grep -rqaFf "$scratch/secrets" "$1" &&
        ends_with 1 grep -rqaE '(at|rt)_[0-9a-f]{16}' "$1"
}

capabilities() { sed -n 's/^Cap\(Prm\|Eff\|Bnd\|Amb\):\t0*$/none/p' "/proc/$1/status" | wc -l; }

check "the daemon does not run as root" test "$uid" -ge 61184
check "the daemon has no capability" is "$(capabilities "$pid")" 4
check "no other user can access the state" modes_are_closed
check "/var/lib/junctiond links to the state" is "$(readlink -f /var/lib/junctiond)" "$state"
check "the state contains no plain secret" holds_no_secret "$state"
check "the arguments and the environment contain no secret" \
    ends_with 1 grep -qaFf "$scratch/secrets" "/proc/$pid/cmdline" "/proc/$pid/environ"

# Without the vendor, so that the session can only come from the disk.
systemctl stop --quiet junctiond.service cloud.service
systemctl start junctiond.service
check "after a stop and a start the user is signed in" field_is userId "$user"
check "the token is the same" is "$(token)" "$token"

# Another service has the user id now, so the service manager chooses another one, and changes the owner of the state.
systemctl stop --quiet junctiond.service
mkdir -p /var/lib/private/squatter
chown "$uid" /var/lib/private/squatter
unit squatter.service <<'END'
[Service]
DynamicUser=yes
StateDirectory=squatter
Type=exec
ExecStart=/usr/bin/sleep infinity
END
systemctl start squatter.service
check "another service runs with the user id" is "$(stat -c %u "/proc/$(prop MainPID squatter.service)")" "$uid"
systemctl start junctiond.service
pid=$(main_pid)
check "the daemon has another user id" no is "$(stat -c %u "/proc/$pid")" "$uid"
uid=$(stat -c %u "/proc/$pid")
check "still, no other user can access the state" modes_are_closed
check "the token is still the same" is "$(token)" "$token"
systemctl start cloud.service
check "a renewal succeeds" junctionctl renew
check "the renewal is durable" field_is durable true
