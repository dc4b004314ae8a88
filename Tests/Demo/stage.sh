# The environment of second-act: a temporary folder, a sandbox and a daemon, which are removed at the end.
# Sourced with $1: the folder with junctiond, junctionctl and junction-sandbox.

bin=${1:?usage: demo BIN}
work=$(mktemp -d)
export JUNCTIOND_SOCKET=$work/junctiond.sock
sandbox_pid='' daemon_pid='' watcher_pid='' line=''

clean_up() {
    local status=$?
    for pid in $watcher_pid $daemon_pid $sandbox_pid; do
        kill -KILL "$pid" 2>/dev/null || :
        wait "$pid" 2>/dev/null || :
    done
    if ((status != 0)); then
        echo "The demo failed (exit $status). The daemon said:" >&2
        cat "$work/junctiond.log" >&2 2>/dev/null || :
    fi
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

act() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '  $ %s\n' "${*/#ctl/junctionctl}"; "$@" | sed 's/^/    /'; echo; }
ctl() { "$bin/junctionctl" "$@"; }
member() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

start_sandbox() {
    exec 3< <(exec "$bin/junction-sandbox" --listen "127.0.0.1:${1:-0}" --access-token-lifetime "$token_life" \
        --state "$work/cloud.json" 2>"$work/sandbox.log")
    sandbox_pid=$!
    # The sandbox prints one line when it listens. read blocks until then.
    read -r -t 30 line <&3
    cloud=${line##*listening on }
}

start_daemon() {
    "$bin/junctiond" --config "$work/junctiond.toml" --socket "$JUNCTIOND_SOCKET" --state-dir "$work/state" \
        >>"$work/junctiond.log" 2>&1 &
    daemon_pid=$!
    ctl wait --for "$1" --timeout 15 >/dev/null
}
