#!/usr/bin/env bash
# junction-online.target is reached when a user is signed in with a valid token, not before.
. "${0%/*}/../lib.sh"
fresh

unit needs-user.service <<END
[Unit]
Wants=junction-online.target
After=junction-online.target
[Service]
Type=oneshot
ExecStart=/usr/bin/touch $work/started
END

waits() { prop_is SubState start junction-online.service && prop_is ActiveState inactive junction-online.target; }
is_reached() { prop_is ActiveState active junction-online.target; }
is_watched() { junctionctl metrics | grep -q '^junctiond_watchers 1$'; }

systemctl start --no-block needs-user.service
check "junction-online.service watches the session" await 10 is_watched
check "without a session the target is not reached" waits
check "a unit that is ordered after the target is not started" no test -e "$work/started"
sign_in anna
check "after a sign-in the target is reached" timeout 20 systemctl start junction-online.target
check "the target is active" await 10 is_reached
check "a unit that is ordered after the target is started" await 10 test -e "$work/started"

# A session with an expired token, and a provider that does not answer.
systemctl stop --quiet junction-online.target junction-online.service
junctionctl sign-out >"$work/.sign-out"
settings '{"accessTokenLifetime":1}'
curl -fsS "$cloud/sandbox/faults" -d '{"match":"/v1/token","grant":"refresh_token","hang":true}' -o "$work/.fault"
sign_in bert
check "a token expires" await_snapshot 20 '"state":"tokenExpired"'
systemctl start --no-block junction-online.target
check "junction-online.service watches the session again" await 10 is_watched
check "with an expired token the target is not reached" waits
curl -fsS "$cloud/sandbox/await?counter=hanging&atLeast=1" -o "$work/.await"
settings '{"accessTokenLifetime":3600}'
curl -fsS -X DELETE "$cloud/sandbox/faults" -o "$work/.fault"
curl -fsS -X POST "$cloud/sandbox/release" -o "$work/.release"
check "after the provider's answer the target is reached" timeout 30 systemctl start junction-online.target
check "the session has a fresh token" field_is state established

systemctl stop --quiet junction-online.target junction-online.service
curl -fsS -X POST "$cloud/sandbox/users/$user/delete" -o "$work/.delete"
junctionctl renew >"$work/.renew" 2>&1 || :
check "the provider ends the session" await_snapshot 20 '"state":"terminated"'
check "a wait for a fresh session fails" ends_with 1 junctionctl wait --for fresh
check "the target fails" no timeout 30 systemctl start junction-online.target
check "the target is not reached" prop_is ActiveState inactive junction-online.target
systemctl reset-failed junction-online.service
