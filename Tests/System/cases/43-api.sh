#!/usr/bin/env bash
# HTTP for local apps: a socket that has to be enabled, with the same access rules as the other one.
. "${0%/*}/../lib.sh"
fresh

api=/run/junctiond/api.sock

http() { # PATH CURL-ARGUMENT...
    timeout 60 curl -sS --unix-socket "$api" "http://junction$1" "${@:2}"
}
http_as() { # USER PATH CURL-ARGUMENT...
    as "$1" curl -sS --unix-socket "$api" "http://junction$2" "${@:3}"
}
verdict_of() { # COMMAND...: prints the status and the error kind of the answer
    "$@" -o /dev/null -w '%{http_code} %header{junction-error}'
}
answers_both() { junctionctl --json status && http /.junction/status && prop_is NRestarts 1; }
no_process_listens() { ends_with 7 http /.junction/status; }

# ---- enabling, and the group ----

sign_in anna
check "the API socket is disabled by default" ends_with 1 systemctl is-enabled --quiet junctiond-api.socket
check "no process listens on the API socket" no_process_listens
asks() { # requests tokens until $work/enough exists
    while [[ ! -e $work/enough ]]; do
        junctionctl token >"$work/token" 2>>"$work/failed" || echo "exit code $?" >>"$work/failed"
        echo >>"$work/answers"
    done
}
: >"$work/failed" >"$work/answers"
trap 'touch "$work/enough"' EXIT
asks &
asker=$!
await 10 test -s "$work/answers"
old=$(main_pid)
check "the API socket can be enabled and started while the daemon runs" systemctl enable --quiet --now junctiond-api.socket
check "the daemon restarts to get the socket" await 10 restarted
check "the daemon restarts once" is "$(logged -o cat "MESSAGE_ID=$READY_ID" | grep -c .)" 2
touch "$work/enough"
wait "$asker" || :
check "no request on the other socket fails" is "$(<"$work/failed")" ""
old=$(main_pid)
check "a second start of the API socket succeeds" systemctl start junctiond-api.socket
check "the second start does not restart the daemon" is "$(main_pid)" "$old"
check "SIGKILL ends the daemon" kill -KILL "$old"
check "the daemon restarts once, with both sockets" await 10 answers_both
check "only the group junction may use the API socket" is "$(stat -c '%F %a %U:%G' "$api")" "socket 660 root:junction"
check "a member of the group calls the API as the user" has "$(http_as kiosk /v2/user/:userId)" "$user"
check "a member of the group gets the same token as on the other socket" \
    is "$(http_as kiosk /.junction/token -H 'Junction-Local: true' | member accessToken | secret)" "$(token)"
check "a request without the header Junction-Local gets no token" is "$(verdict_of http_as kiosk /.junction/token)" "403 permissionDenied"
check "another user cannot connect" ends_with 7 http_as stranger /.junction/status
check "the other socket serves the session" field_is userId "$user"

# ---- access rules ----

cat >"$config" <<'END'
[[access]]
allow = ["status", "token"]
unit = "health-sync.service"
[[access]]
allow = ["status"]
user = "app"
END
systemctl restart junctiond.service

curl_in_unit() { # NAME PATH
    client_unit "$1" "/usr/bin/curl -sS --fail-with-body --unix-socket $api -H 'Junction-Local: true' http://junction$2"
}
is_audited() { # UNIT METHOD CAPABILITY
    local entry
    entry=$(logged -o json "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UNIT=$1" _SYSTEMD_UNIT=junctiond.service)
    has "$entry" "\"JUNCTIOND_PEER_UID\":\"$(id -u app)\"" "\"JUNCTIOND_METHOD\":\"$2\"" "\"JUNCTIOND_CAPABILITY\":\"$3\"" \
        '"JUNCTIOND_PEER_PID":"'
}

mark
curl_in_unit health-sync.service /.junction/token
curl_in_unit other.service /.junction/token
check "a unit with an entry gets a token" systemctl start health-sync.service
check "the token is the session's" is "$(member accessToken <"$work/health-sync.service.out" | secret)" "$(token)"
check "the audit of the token names the unit" \
    await_journal 10 . "MESSAGE_ID=$TOKEN_ID" JUNCTIOND_PEER_UNIT=health-sync.service _SYSTEMD_UNIT=junctiond.service
check "the same program as the same user in another unit gets no token" no systemctl start other.service
check "the answer has the reason" has "$(<"$work/other.service.out")" permissionDenied "'token'"
check "the audit of the refusal names the unit" await 5 is_audited other.service token.get token
curl_in_unit caller.service /v2/user/:userId
check "a unit without the right api may not call the API" no systemctl start caller.service
check "the audit has that refusal" await 5 is_audited caller.service api.request api

# The unit for node_exporter from docs/http.md.
install -d -o app -m 755 "$work/collected"
unit metrics.service <<END
[Service]
Type=oneshot
User=app
SupplementaryGroups=junction
$(sed -n '/^ExecStart=.*metrics/,/[^\\]$/p' /usr/share/doc/junctiond/docs/http.md |
    sed "s|/var/lib/prometheus/node-exporter|$work/collected|")
END
check "a timer's service collects the metrics" systemctl start metrics.service
check "the file contains the metrics of the daemon" grep -q '^junctiond_' "$work/collected/junctiond.prom"

# ---- stop and start ----

cp "$scratch/config.as-installed" "$config"
systemctl stop --quiet junctiond.service
check "after a stop of the daemon the socket still listens" is "$(systemctl is-active junctiond-api.socket)" active
check "the next request starts the daemon" has "$(http /v2/user/:userId)" "$user"
systemctl stop --quiet junctiond.socket
check "a stop of the other socket stops the daemon" prop_is ActiveState inactive
check "a stop of the other socket also stops the API socket" no_process_listens
systemctl start junctiond.socket
check "a request on the other socket starts the daemon" field_is userId "$user"
check "the API socket is back as well" has "$(http /.junction/status)" "$user"
check "a restart of the other socket succeeds" systemctl restart junctiond.socket
check "after the restart both sockets serve the session" \
    has "$(http /v2/user/:userId && junctionctl --json status)" "client_user_id" '"state":"established"'
check "the API socket can be disabled and stopped" systemctl disable --quiet --now junctiond-api.socket
check "no process listens on the stopped API socket" no_process_listens
check "the other socket still serves the session" field_is userId "$user"

# ---- an invalid configuration ----

systemctl enable --quiet junctiond-api.socket
systemctl restart junctiond.service
systemctl stop --quiet junctiond.service
record=$(sha256sum <"$state/session.sealed")
echo 'nonsense = 1' >>"$config"
mark

told() { # PATH CURL-ARGUMENT...
    has "$(http "$@" --max-time 10 --include)" 'HTTP/1.1 503 ' 'junction-error: misconfigured' nonsense
}
has_user() { has "$(http /v2/user/:userId)" "$user"; }
many_are_told() {
    local number
    for ((number = 0; number < 60; number++)); do told /v2/user/:userId || return 1; done
}

check "a client receives the error" told /v2/user/:userId
pid=$(main_pid)
check "sixty more clients receive it" many_are_told
check "the process is the same" is "$(main_pid)" "$pid"
check "the socket has not failed" is "$(systemctl is-active junctiond-api.socket)" active
check "no client gets a token" told /.junction/token -H 'Junction-Local: true'
check "a client of the other socket receives the error" ends_with 78 junctionctl status
check "the process is still the same" is "$(main_pid)" "$pid"
check "the stored session is unchanged" is "$(sha256sum <"$state/session.sealed")" "$record"
cp "$scratch/config.as-installed" "$config"
check "a reload with a valid file succeeds" systemctl reload junctiond.service
check "API calls succeed again" await 20 has_user
check "the service manager has started another process" no is "$(main_pid)" "$pid"

echo 'nonsense = 1' >>"$config"
systemctl stop --quiet junctiond.service
check "without a waiting client the start fails" no systemctl start junctiond.service
check "the exit code is 78 (configuration)" prop_is ExecMainStatus 78
check "a first client on the other socket receives the error" ends_with 78 junctionctl status
check "a client of the API socket receives the error" told /.junction/status

systemctl disable --quiet --now junctiond-api.socket
