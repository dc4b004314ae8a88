#!/usr/bin/env bash
# junction-online.target is reached when somebody is signed in with a living token, not before.
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
check "who needs a user asks the daemon" await 10 is_watched
check "with nobody signed in the target is not reached" waits
check "and what comes after it is not started" no test -e "$work/started"
sign_in anna
check "a sign-in is what it waits for" timeout 20 systemctl start junction-online.target
check "then it is reached" await 10 is_reached
check "and what comes after it is started" await 10 test -e "$work/started"

# A session whose token is dead, and a provider that does not answer.
systemctl stop --quiet junction-online.target junction-online.service
junctionctl sign-out >"$work/.sign-out"
settings '{"accessTokenLifetime":1}'
curl -fsS "$cloud/sandbox/faults" -d '{"match":"/v1/token","grant":"refresh_token","hang":true}' -o "$work/.fault"
sign_in bert
check "a token dies" await_snapshot 20 '"state":"tokenExpired"'
systemctl start --no-block junction-online.target
check "who needs a user asks the daemon again" await 10 is_watched
check "with a dead token the target is not reached" waits
curl -fsS "$cloud/sandbox/await?counter=hanging&atLeast=1" -o "$work/.await"
settings '{"accessTokenLifetime":3600}'
curl -fsS -X DELETE "$cloud/sandbox/faults" -o "$work/.fault"
curl -fsS -X POST "$cloud/sandbox/release" -o "$work/.release"
check "the provider answers: the target is reached" timeout 30 systemctl start junction-online.target
check "with a fresh token" field_is state established

systemctl stop --quiet junction-online.target junction-online.service
curl -fsS -X POST "$cloud/sandbox/users/$user/delete" -o "$work/.delete"
junctionctl renew >"$work/.renew" 2>&1 || :
check "the provider ends the session" await_snapshot 20 '"state":"terminated"'
check "nobody waits in vain for a fresh one" ends_with 1 junctionctl wait --for fresh
check "and the target fails" no timeout 30 systemctl start junction-online.target
check "it is not reached" prop_is ActiveState inactive junction-online.target
systemctl reset-failed junction-online.service
