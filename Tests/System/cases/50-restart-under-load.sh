#!/usr/bin/env bash
# A restart while many clients send requests and watch: no request fails, and every watcher receives later changes.
. "${0%/*}/../lib.sh"
fresh

askers=50 watchers=20 clients=30 restarts=5
sign_in anna
token=$(token)

# 50 programs, each with its own connection: half request the state, half a token.
asks() { # NUMBER: sends requests until $work/enough exists
    local answered=0 answer status
    while [[ ! -e $work/enough ]]; do
        status=0
        if (($1 % 2)); then
            answer=$(junctionctl --json status 2>&1) || status=$?
            [[ $answer == *"\"userId\":\"$user\""* ]] || status=${status/#0/1}
        else
            answer=$(junctionctl token 2>&1) || status=$?
            [[ $answer == "$token" ]] || status=${status/#0/1}
        fi
        if ((status == 0)); then
            answered=$((answered + 1))
            echo "$answered" >"$work/asker.$1"
        else
            echo "asker $1, exit code $status: ${answer:0:200}" >>"$work/failed"
        fi
    done
}

total() { awk '{ sum += $1 } END { print sum + 0 }' "$work"/asker.*; }
has_grown() { (($(total) >= $1)); }
all_watchers_have() { # TEXT
    is "$(grep -lF "$1" "$work"/watch.*.out | wc -l)" "$watchers"
}
watchers_run() { kill -0 "${watcher_pids[@]}"; }

trap 'touch "$work/enough"; kill $(jobs -p) 2>"$work/.errors" || :' EXIT
: >"$work/failed"
pids=() watcher_pids=()
for ((number = 0; number < watchers; number++)); do
    /usr/bin/junctionctl --json watch >"$work/watch.$number.out" 2>>"$work/watch.errors" &
    watcher_pids+=($!)
done
await 20 all_watchers_have '"generation":1'
for ((number = 0; number < askers; number++)); do
    echo 0 >"$work/asker.$number"
    asks "$number" &
    pids+=($!)
done
if [[ -x /ci/tools/pollers ]]; then
    exec {poll_until}> >(exec /ci/tools/pollers "$JUNCTIOND_SOCKET" "$clients" >"$work/pollers" 2>&1)
    pollers=$!
else
    echo "       without the clients that never retry: there is no C compiler"
fi

restart_under_load() {
    local round before
    for ((round = 0; round < restarts; round++)); do
        before=$(total)
        await 30 has_grown $((before + askers)) && systemctl restart junctiond.service || return 1
    done
    before=$(total)
    await 30 has_grown $((before + askers))
}

mark
check "the daemon restarts $restarts times, while $askers programs send requests and $watchers watch" restart_under_load
check "each restart started the daemon once" is "$(logged -o cat "MESSAGE_ID=$READY_ID" | wc -l)" "$restarts"
touch "$work/enough"
wait "${pids[@]}" || :
echo "       $(total) requests by programs were answered"
check "no request failed" is "$(<"$work/failed")" ""
if [[ ${pollers:-} ]]; then
    exec {poll_until}>&-
    check "every request that was written to the socket got an answer, without a retry" wait "$pollers"
    echo "       $clients more clients: $(tail -n 1 "$work/pollers")"
    check "the daemon closed connections during the restarts" ends_with 1 grep -q ', 0 ended' "$work/pollers"
fi
check "every watcher still runs" watchers_run
check "a renewal succeeds" junctionctl renew
check "every watcher receives the change" await 20 all_watchers_have '"generation":2'
check "the restarts caused no request to the provider" is "$(counter exchanges) $(counter refreshes)" "1 1"
