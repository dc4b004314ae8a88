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

# ---- only the daemon ----

begin
systemctl stop junctiond.service &
stop=$!
check "during a renewal the daemon stops" await 10 is_stopping
check "the daemon's network helper still runs" no no_courier
release
check "the stop ends after the provider's answer" ended "$stop"
no_faults
wait "$renewal" || :
check "the renewed session is on the disk" field_is generation 2
check "the provider got one renewal" is "$(counter refreshes) $(counter replays)" "1 0"

# ---- all at once, as at a shutdown ----

begin
courier=$(couriers | head -n 1)
systemctl stop junctiond.socket junctiond.service junctiond-courier.socket "$courier" &
stop=$!
check "during a renewal the daemon and its network helper stop" await 10 is_stopping
# systemctl queues one stop after the other, so that of the network helper may come later.
check "the network helper runs until the daemon has ended" await 10 courier_is_stopping
release
check "the stop ends after the provider's answer" ended "$stop"
wait "$renewal" || :
no_faults
systemctl start junctiond.socket
check "the renewed session is on the disk" field_is generation 3
check "the provider got one more renewal" is "$(counter refreshes) $(counter replays)" "2 0"

# ---- a network helper that starts while the daemon stops ----

# The daemon answers a request that came before the stop. No network helper runs yet that could send it.
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
check "a request waits that the daemon has not read yet" await 10 said
check "the daemon stops" systemctl stop junctiond.service
check "the request got its answer" ended "$late"
check "a network helper that started during the stop sent the request" has "$(<"$work/late")" '"status":200'

# ---- an answer that does not come in time ----

begin
check "the daemon stops although the provider does not answer" systemctl stop junctiond.service
wait "$renewal" || :
check "the network helper ends with the daemon" await 10 no_courier
release
no_faults
renews() { junctionctl renew; }
check "the next daemon repeats the renewal" await 40 renews
check "the user is the same" field_is userId "$user"
check "the provider got one exchange and revoked no token family" is "$(counter exchanges) $(counter familyRevocations)" "1 0"
