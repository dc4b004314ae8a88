#!/usr/bin/env bash
# A renewal in progress when the daemon stops, alone or at a shutdown, is completed or repeated.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
token=$(token)
holds='{"match":"/v1/token","grant":"refresh_token","hang":true,"times":1}'

begin() {
    faults "$holds"
    junctionctl renew >"$work/renewal" 2>&1 &
    renewal=$!
    await_counter hanging 1
}
is_stopping() { prop_is ActiveState deactivating; }
courier_is_stopping() { [[ $(systemctl is-active "$courier") == deactivating ]]; }
ended() { wait "$1"; }
when_ended() { systemctl show --property=InactiveEnterTimestampMonotonic --value "$1"; }

# ---- only the daemon ----

begin
systemctl stop junctiond.service &
stop=$!
check "while a renewal is under way the daemon stops" await 10 is_stopping
check "its courier is still there" no no_courier
release
check "the answer comes, and the stop ends" ended "$stop"
no_faults
wait "$renewal" || :
check "the renewed session is on the disk" field_is generation 2
check "the provider was asked once" is "$(counter refreshes) $(counter replays)" "1 0"

# ---- all at once, as at a shutdown ----

begin
courier=$(couriers | head -n 1)
systemctl stop junctiond.socket junctiond.service junctiond-courier.socket "$courier" &
stop=$!
check "while a renewal is under way everything stops" await 10 is_stopping
# systemctl queues one stop after the other, so that of the courier may come later.
check "the courier is the daemon's until that has ended" await 10 courier_is_stopping
release
check "the answer comes, and the stop ends" ended "$stop"
wait "$renewal" || :
no_faults
systemctl start junctiond.socket
check "the renewed session is on the disk" field_is generation 3
check "the provider was asked once more" is "$(counter refreshes) $(counter replays)" "2 0"

# ---- a courier that starts while the daemon stops ----

# The daemon answers a request that came before the stop. No courier runs yet that could send it.
end_couriers
mkfifo "$work/met" "$work/go"
/ci/suite/late-request "$JUNCTIOND_SOCKET" "$work/met" "$work/go" "$work/said" >"$work/late" &
late=$!
: >"$work/met" # it is connected, and the daemon has answered it once
daemon=$(main_pid)
kill -STOP "$daemon"
stands_still() { ! grep -h '^State:' "/proc/$daemon"/task/*/status | grep -qv '(stopped)'; }
check "the daemon is stopped by SIGSTOP" await 10 stands_still
: >"$work/go"
said() { [[ -e $work/said ]]; }
check "a request is there that the daemon has not read yet" await 10 said
check "it stops" systemctl stop junctiond.service
check "the request was answered" ended "$late"
check "by a courier that began while the daemon was stopping" has "$(<"$work/late")" '"status":200'

# ---- an answer that does not come in time ----

begin
check "with a provider that does not answer the daemon stops nevertheless" systemctl stop junctiond.service
wait "$renewal" || :
check "no courier outlives it" await 10 no_courier
release
no_faults
renews() { junctionctl renew; }
check "the next daemon asks again" await 40 renews
check "the user is the same" field_is userId "$user"
check "no sign-in was broken by all this" is "$(counter exchanges) $(counter familyRevocations)" "1 0"
