#!/usr/bin/env bash
# The first connection starts the daemon, and no request is lost.
. "${0%/*}/../lib.sh"
fresh

callers=20

# All callers start at the same time; each writes its answer and its exit code to its own files.
all_callers_ask() {
    local caller pids=()
    for ((caller = 0; caller < callers; caller++)); do
        {
            status=0
            junctionctl --json status >"$work/answer.$caller" 2>"$work/error.$caller" || status=$?
            echo "$status" >"$work/status.$caller"
        } &
        pids+=($!)
    done
    wait "${pids[@]}"
}

answers_with() { # STATUS STATE
    is "$(cat "$work"/status.* | sort | uniq -c | xargs)" "$callers $1" &&
        is "$(grep -lF "\"state\":\"$2\"" "$work"/answer.* | wc -l)" "$callers"
}

started() { is "$(logged -o cat "MESSAGE_ID=$READY_ID" | wc -l)" "$1"; }

check "the daemon does not run" prop_is ActiveState inactive
all_callers_ask
check "$callers callers at once start the daemon, and each gets an answer" answers_with 3 notLoggedIn
check "the daemon starts once" await 5 started 1

sign_in anna
systemctl stop --quiet junctiond.service
check "after a stop the socket still listens" is "$(systemctl is-active junctiond.socket)" active
mark
all_callers_ask
check "the next callers start the daemon again, and get the session" answers_with 0 established
check "the daemon starts once more" await 5 started 1
check "no user was signed in again" counter_is exchanges 1

systemctl stop --quiet junctiond.socket
check "a stop of the socket stops the daemon" prop_is ActiveState inactive
check "the path of the socket is gone" no test -e "$JUNCTIOND_SOCKET"
check "callers fail at once" ends_with 69 timeout 20 junctionctl status
