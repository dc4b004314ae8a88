#!/usr/bin/env bash
# A network helper that is killed at any step of a rotation does not cost the login.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
generation=1
renewal=

renews() { junctionctl renew; }
begin() {
    junctionctl renew >"$work/renewal" 2>&1 &
    renewal=$!
}
ends() { wait "$renewal"; }
generation_has_grown() { (($(field generation) > generation)); }

# The login is valid and can be renewed: the daemon retries after a while.
goes_on() {
    field_is userId "$user" && await 40 renews && await 5 generation_has_grown || return 1
    generation=$(field generation)
    counter_is familyRevocations 0 && field_is state established
}

# No request was sent, so even a provider that accepts each refresh token only once is not affected.
settings '{"rotationGrace":0}'
kill -KILL "$(courier_pid)"
check "network helper killed without a request: the next renewal succeeds" goes_on
check "the provider got no refresh retry" counter_is replays 0

courier=$(courier_pid)
kill -STOP "$courier"
begin
await_snapshot 20 '"phase":"inFlight"'
kill -KILL "$courier"
check "network helper killed before the request is sent: the renewal fails" ends_with 75 ends
check "the login stays valid" goes_on
check "the provider got no refresh retry" counter_is replays 0

# From here on the request is sent, and the provider accepts a retry.
settings '{"rotationGrace":30}'
faults '{"match":"/v1/token","grant":"refresh_token","hang":true,"times":1}'
begin
await_counter hanging 1
kill -KILL "$(courier_pid)"
check "network helper killed while the provider holds the request: the renewal fails" ends_with 75 ends
no_faults
release
check "the login stays valid" goes_on

refreshes=$(counter refreshes)
faults '{"match":"/v1/token","grant":"refresh_token","slowBody":1,"times":1}'
begin
await_counter refreshes $((refreshes + 1))
kill -KILL "$(courier_pid)"
check "network helper killed while the answer is in transit: the renewal fails" ends_with 75 ends
check "the login stays valid" goes_on
check "the provider got a refresh retry" test "$(counter replays)" -ge 1

refreshes=$(counter refreshes)
faults '{"match":"/v1/token","grant":"refresh_token","hang":true,"times":1}'
begin
await_counter hanging 1
courier=$(courier_pid)
kill -STOP "$(main_pid)"
release
await_counter refreshes $((refreshes + 1))
kill -KILL "$courier"
kill -CONT "$(main_pid)"
ends || :
check "network helper killed before the daemon reads the answer: the login stays valid" goes_on
# An API call has a network helper of its own.
refreshes=$(counter refreshes)
replays=$(counter replays)
faults '{"match":"/v1/token","grant":"refresh_token","hang":true,"times":1}'
begin
await_counter hanging 1
session=$(courier_pid)
faults '{"match":"/v2/providers","hang":true,"times":1}'
calls >"$work/call" 2>&1 &
call=$!
await_counter hanging 2
kill -KILL "$(courier_beside "$session")"
called() { wait "$call"; }
check "an API call fails when its network helper is killed" ends_with 75 called
check "the network helper of a renewal at the same time is the same" is "$(courier_pid)" "$session"
release
check "the renewal at the same time succeeds" ends
no_faults
check "the provider got that renewal once" is "$(counter refreshes) $(counter replays)" "$((refreshes + 1)) $replays"
check "the user was signed in once" counter_is exchanges 1
