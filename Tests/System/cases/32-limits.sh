#!/usr/bin/env bash
# One user's programs cannot take everything: whoever is over the limit is told so, and others are not touched.
. "${0%/*}/../lib.sh"
fresh

printf '[limits]\nconnections = 2\n' >"$config"
sign_in anna

is_busy() { # COMMAND...: kiosk is told to try again
    ends_with 75 as kiosk "$@" 2>"$work/busy" && grep -q '(busy)' "$work/busy"
}

holders=()
for number in 1 2; do
    (exec setpriv --reuid kiosk --regid kiosk --init-groups junctionctl watch --json) >"$work/watch.$number" &
    holders+=($!)
    await 10 test -s "$work/watch.$number"
done

check "a third connection of the same user is one too many" is_busy junctionctl status
check "the refusal is in the journal" await_journal 5 . "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)"
check "another user is served" as app junctionctl status
kill "${holders[0]}"
check "as soon as one connection is closed there is room" await 5 as kiosk junctionctl status
kill "${holders[1]}"

printf '[limits]\ninFlight = 1\n' >"$config"
systemctl restart junctiond.service
curl -fsS "$cloud/sandbox/faults" -d '{"match":"/v1/token","hang":true}' -o "$work/.fault"
as kiosk junctionctl renew >"$work/.renew" &
renewal=$!
curl -fsS "$cloud/sandbox/await?counter=hanging&atLeast=1" -o "$work/.await"
check "a second request while one is unanswered is one too many" is_busy junctionctl status
check "another user is served" as app junctionctl status
curl -fsS -X POST "$cloud/sandbox/release" -o "$work/.release"
check "the first one is answered" wait "$renewal"
check "and there is room again" as kiosk junctionctl status
curl -fsS -X DELETE "$cloud/sandbox/faults" -o "$work/.fault"

printf '[limits]\nproviderCallsPerMinute = 1\n' >"$config"
systemctl restart junctiond.service
check "one call to the provider is allowed" as kiosk junctionctl api GET /v2/providers
check "a second one within the minute is one too many" is_busy junctionctl api GET /v2/providers
check "a token costs no call" as kiosk junctionctl token
