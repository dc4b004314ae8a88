#!/usr/bin/env bash
# If the network helper is killed, stopped, missing or of another version, a request fails with a message that names the remedy. As soon as
# a network helper is available, requests succeed again.
. "${0%/*}/../lib.sh"
fresh
program=/usr/bin/junctiond-courier
trap '[[ ! -e $work/courier ]] || mv "$work/courier" "$program"' EXIT

names_courier() { # doctor reports a problem with the network helper
    ends_with 1 junctionctl doctor >"$work/doctor" && cat "$work/doctor" && grep -q '^problem.*network helper' "$work/doctor"
}

# Replaces the program by standard input, or by nothing, until `put_back`.
replaced() {
    end_couriers
    mv "$program" "$work/courier"
    [[ $1 == none ]] || install -m 755 /dev/stdin "$program"
    # The unit has to allow the interpreter of the script, and its programs.
    drop_in script junctiond-courier@.service <<<$'[Service]\nExecPaths=/bin/sh /bin/cat'
}
put_back() {
    end_couriers
    mv -f "$work/courier" "$program"
    no_drop_in script junctiond-courier@.service
}

sign_in anna
token=$(token)
# From here on only the network helper of API calls runs.
end_couriers

# ---- killed ----

faults '{"match":"/v2/providers","hang":true,"times":1}'
calls >"$work/out" 2>"$work/error" &
call=$!
await_counter hanging 1
courier=$(courier_pid)
kill -KILL "$courier"
ends() { wait "$call"; }
check "a request fails when its network helper is killed" ends_with 75 ends
check "the message names the reason and the remedy" has "$(<"$work/error")" providerUnavailable "network helper ended" "gets another helper"
no_faults
check "the next request has another network helper" calls
check "the other network helper is another process" no is "$(courier_pid)" "$courier"

# ---- stopped ----

systemctl stop --quiet junctiond-courier.socket
end_couriers
check "without the socket a request fails, and the message has the command" \
    is_unavailable "systemctl start junctiond-courier.socket" calls
check "the daemon still serves the token" is "$(token)" "$token"
systemctl start junctiond-courier.socket
check "with the socket back a request succeeds" calls

# ---- missing ----

mark
replaced none
check "without the program a request fails, and the message names the journal" \
    is_unavailable "journal of junctiond-courier@" calls
# The process that names the file ends at once, so the journal may not know its unit.
has_reason() { has "$(logged -o cat -u 'junctiond-courier@*')" "status=203/EXEC"; }
check "the journal has the reason" await 10 has_reason
check "doctor reports the problem" names_courier
check "the daemon still serves the token" is "$(token)" "$token"
put_back
check "with the program back a request succeeds" calls

# ---- of another version ----

replaced other <<'END'
#!/bin/sh
# Greets with the version 99 of the format.
printf '\000\000\000\002\000\000\000\000\201\000\143' >&0
exec cat >/dev/null
END
check "with a network helper of another version a request fails, and the message says to restart" \
    is_unavailable "restart junctiond" calls
check "the daemon still serves the token" is "$(token)" "$token"
put_back

check "a restart succeeds" systemctl restart junctiond.service
check "the token is the same after the restart" is "$(token)" "$token"
check "after the restart a request succeeds" calls
check "the provider got one exchange and no renewal" is "$(counter exchanges) $(counter refreshes)" "1 0"
