#!/usr/bin/env bash
# A courier that is killed, stopped, missing or of another version is an ordinary failure that says what to do, and things go
# on as soon as there is one.
. "${0%/*}/../lib.sh"
fresh
program=/usr/bin/junctiond-courier
trap '[[ ! -e $work/courier ]] || mv "$work/courier" "$program"' EXIT

names_courier() { # doctor, as a problem
    ends_with 1 junctionctl doctor >"$work/doctor" && cat "$work/doctor" && grep -q '^problem.*courier' "$work/doctor"
}

# Replaces the program by standard input, or by nothing, until `put_back`.
replaced() {
    end_couriers
    mv "$program" "$work/courier"
    [[ $1 == none ]] || install -m 755 /dev/stdin "$program"
    # A script can be run there only with its interpreter and what that runs.
    drop_in script junctiond-courier@.service <<<$'[Service]\nExecPaths=/bin/sh /bin/cat'
}
put_back() {
    end_couriers
    mv -f "$work/courier" "$program"
    no_drop_in script junctiond-courier@.service
}

sign_in anna
token=$(token)
# From here on only the courier of API calls runs.
end_couriers

# ---- killed ----

faults '{"match":"/v2/providers","hang":true,"times":1}'
calls >"$work/out" 2>"$work/error" &
call=$!
await_counter hanging 1
courier=$(courier_pid)
kill -KILL "$courier"
ends() { wait "$call"; }
check "a request whose courier is killed is unavailable" ends_with 75 ends
check "the message says so, and names the remedy" has "$(<"$work/error")" providerUnavailable "courier ended" "gets another one"
no_faults
check "the next request has another courier" calls
check "which is another process" no is "$(courier_pid)" "$courier"

# ---- stopped ----

systemctl stop --quiet junctiond-courier.socket
end_couriers
check "without the socket requests are unavailable, and the message has the command" \
    is_unavailable "systemctl start junctiond-courier.socket" calls
check "the token is served all the same" is "$(token)" "$token"
systemctl start junctiond-courier.socket
check "with the socket back requests go through" calls

# ---- missing ----

mark
replaced none
check "without the program requests are unavailable, and the message says where the reason is" \
    is_unavailable "journal of junctiond-courier@" calls
# The process that names the file ends at once, so the journal may not know its unit.
has_reason() { has "$(logged -o cat -u 'junctiond-courier@*')" "status=203/EXEC"; }
check "the reason is there" await 10 has_reason
check "and doctor says the same" names_courier
check "the token is served all the same" is "$(token)" "$token"
put_back
check "with the program back requests go through" calls

# ---- of another version ----

replaced other <<'END'
#!/bin/sh
# Greets with the version 99 of the format.
printf '\000\000\000\002\000\000\000\000\201\000\143' >&0
exec cat >/dev/null
END
check "a courier of another version is unavailable, and the message says to restart" \
    is_unavailable "restart junctiond" calls
check "the token is served all the same" is "$(token)" "$token"
put_back

check "after the restart requests go through" systemctl restart junctiond.service
check "with the same session" is "$(token)" "$token"
check "and a courier" calls
check "all that cost no renewal" is "$(counter exchanges) $(counter refreshes)" "1 0"
