#!/usr/bin/env bash
# The programs of one user have limits: a request above a limit fails, and other users are not affected.
. "${0%/*}/../lib.sh"
fresh

printf '[limits]\nconnections = 2\n' >"$config"
sign_in anna

is_busy() { # COMMAND...: it must fail with the error busy for kiosk
    ends_with 75 as kiosk "$@" 2>"$work/busy" && grep -q '(busy)' "$work/busy"
}

holders=()
for number in 1 2; do
    (exec setpriv --reuid kiosk --regid kiosk --init-groups junctionctl watch --json) >"$work/watch.$number" &
    holders+=($!)
    await 10 test -s "$work/watch.$number"
done

check "a third connection of the same user is refused" is_busy junctionctl status
check "the refusal is in the journal" await_journal 5 . "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)"
check "another user gets an answer" as app junctionctl status
kill "${holders[0]}"
check "after one connection is closed, the user can connect again" await 5 as kiosk junctionctl status
kill "${holders[1]}"

printf '[limits]\ninFlight = 1\n' >"$config"
systemctl restart junctiond.service
curl -fsS "$cloud/sandbox/faults" -d '{"match":"/v1/token","hang":true}' -o "$work/.fault"
as kiosk junctionctl renew >"$work/.renew" &
renewal=$!
curl -fsS "$cloud/sandbox/await?counter=hanging&atLeast=1" -o "$work/.await"
check "a second request while one is unanswered is refused" is_busy junctionctl status
check "another user gets an answer" as app junctionctl status
curl -fsS -X POST "$cloud/sandbox/release" -o "$work/.release"
check "the first request gets its answer" wait "$renewal"
check "the user's next request gets an answer" as kiosk junctionctl status
curl -fsS -X DELETE "$cloud/sandbox/faults" -o "$work/.fault"

printf '[limits]\nproviderCallsPerMinute = 1\n' >"$config"
systemctl restart junctiond.service
check "one call to the provider is allowed" as kiosk junctionctl api GET /v2/providers
check "a second one within the minute is refused" is_busy junctionctl api GET /v2/providers
check "a token does not count as a call to the provider" as kiosk junctionctl token

# ---- memory ----

# One user requests sixty answers of 8 MB at the same time, more than the unit's memory limit. The daemon handles some at a time, so
# the last ones take long. The check runs after the first ten.
printf '[limits]\nproviderCallsPerMinute = 1000\n' >"$config"
systemctl restart junctiond.service
pid=$(main_pid)
limit=$(prop MemoryMax)
faults '{"match":"/v2/providers","oversize":8000000}'
callers=()
for number in {1..60}; do
    (exec setpriv --reuid kiosk --regid kiosk --init-groups junctionctl api GET /v2/providers) \
        >"$work/answer.$number" 2>"$work/error.$number" &
    callers+=($!)
done
ten_are_answered() { (($(find "$work" -name 'answer.*' -size 8000000c | wc -l) >= 10)); }
peak() { sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$1/status"; } # PID: prints its largest memory use, in KiB
is_below() { [[ $2 != infinity ]] && (($1 * 1024 < $2)) || { echo "$1 KiB is not below $2"; return 1; }; }
check "ten of sixty large answers at once are complete" await 100 ten_are_answered
check "the daemon's memory stays below the unit's limit" is_below "$(peak "$pid")" "$limit"
check "meanwhile another user gets an answer" as app junctionctl status
check "the process is the same" is "$(main_pid)" "$pid"
# If this container has the memory controller, the kernel enforces the limit.
group=/sys/fs/cgroup$(prop ControlGroup)
[[ ! -e $group/memory.max ]] || check "the kernel has the limit" is "$(<"$group/memory.max")" "$limit"
kill "${callers[@]}" 2>"$work/.errors" || :
wait || :
no_faults
