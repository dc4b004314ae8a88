#!/usr/bin/env bash
# The journal has fields for events: states, generations, and the callers of requests.
. "${0%/*}/../lib.sh"
fresh

cat >"$config" <<'END'
[[access]]
allow = ["status", "token"]
unit = "health-sync.service"
[[access]]
allow = ["status", "manage"]
user = "kiosk"
END

entry() { logged -o json _SYSTEMD_UNIT=junctiond.service "$@"; }

count() { entry "$@" | wc -l; }

user=$(new_user anna)
as kiosk junctionctl sign-in < <(sign_in_token "$user") >"$work/.sign-in"
client_unit health-sync.service "/usr/bin/junctionctl token"
systemctl start health-sync.service
secret <"$work/health-sync.service.out" >"$work/token"
as kiosk junctionctl token 2>"$work/.errors" || :
junctionctl renew >"$work/.renew"
junctionctl token | secret >"$work/token"
as kiosk junctionctl sign-out >"$work/.sign-out"

systemctl restart junctiond.service
# The daemon writes audit lines shortly after the answer, and all of them before it ends.
journalctl --sync

check "no library logs an error about thread priority" no has "$(logged _SYSTEMD_UNIT=junctiond.service)" "thread priority"
check "a change to the state established has one entry" is "$(count "MESSAGE_ID=$STATE_ID" JUNCTIOND_STATE=established)" 1
check "the entry has the generation, the user and the previous state" has \
    "$(entry "MESSAGE_ID=$STATE_ID" JUNCTIOND_STATE=established)" '"JUNCTIOND_GENERATION":"1"' \
    "\"JUNCTIOND_USER_ID\":\"$user\"" '"JUNCTIOND_PREVIOUS_STATE":"establishing"'
check "a change to the state notLoggedIn has one entry" \
    is "$(count JUNCTIOND_STATE=notLoggedIn JUNCTIOND_PREVIOUS_STATE=established)" 1
check "a sign-in names its caller" is "$(count "MESSAGE_ID=$SIGNED_IN_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)")" 1
check "a sign-out names its caller" is "$(count "MESSAGE_ID=$SIGNED_OUT_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)")" 1
check "each issued token has an entry" is "$(count "MESSAGE_ID=$TOKEN_ID")" 2
check "the entry of a token has the unit, the user, the process and the generation" has \
    "$(entry "MESSAGE_ID=$TOKEN_ID" JUNCTIOND_PEER_UNIT=health-sync.service)" \
    "\"JUNCTIOND_PEER_UID\":\"$(id -u app)\"" '"JUNCTIOND_PEER_PID":"' '"JUNCTIOND_GENERATION":"1"'
check "the token of the next generation has an entry of its own" is "$(count "MESSAGE_ID=$TOKEN_ID" JUNCTIOND_GENERATION=2)" 1
check "a denial names the caller, the method and the reason" has \
    "$(entry "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UID=$(id -u kiosk)")" \
    '"JUNCTIOND_METHOD":"token.get"' '"JUNCTIOND_CAPABILITY":"token"'
check "a refusal is a warning" is "$(count "MESSAGE_ID=$REFUSED_ID" PRIORITY=4)" 1
check "each start has an entry of its own" is "$(count "MESSAGE_ID=$READY_ID")" 2
check "the message of the entry contains the state" grep -q 'state=established' <(entry -o cat "MESSAGE_ID=$STATE_ID")
