# The common part of the examples: a folder, a cloud, a daemon, and the removal of all of them at the end. On a device the
# package and systemd provide these. Sourced with $1: the folder with junctiond, junctiond-courier, junctionctl and
# junction-sandbox.

binaries=$(realpath "${1:?usage: run BINARIES}")
PATH=$binaries:$PATH
work=$(mktemp -d /tmp/example-XXXXXX)
export JUNCTIOND_SOCKET=$work/junctiond.sock
pids=() daemon='' cloud=''

clean_up() {
    local status=$?
    if ((status != 0)) && [[ -e $work/daemon.log ]]; then
        echo "The daemon said:" >&2
        cat "$work/daemon.log" >&2
    fi
    # bash reports each killed job; hide these messages.
    exec 2>/dev/null
    kill -KILL "${pids[@]}" || :
    wait || :
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

fail() { echo "$*" >&2; exit 1; }

# Starts the vendor's stand-in on a port that the kernel chooses, and puts its address into $cloud.
start_cloud() { # OPTIONS...
    local line
    exec 3< <(exec junction-sandbox --listen 127.0.0.1:0 "$@" 2>"$work/cloud.log")
    pids+=($!)
    read -r line <&3
    cloud=${line##*listening on }
}

configure_daemon() { cat >"$work/junctiond.toml"; } # with standard input
start_daemon() { # NAME=VALUE...: its environment
    env "$@" junctiond --config "$work/junctiond.toml" --state-dir "$work/state" \
        >>"$work/daemon.log" 2>&1 &
    daemon=$!
    pids+=("$daemon")
}

stop_daemon() {
    kill -TERM "$daemon"
    wait "$daemon"
}

vendor() { # PATH CURL-OPTIONS...: an answer of the vendor
    curl --silent --show-error --fail --max-time 60 "$cloud$1" "${@:2}"
}
