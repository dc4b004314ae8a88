# The common functions of the cases. A case is a bash program that runs as root under the container's systemd and begins with
#     . "${0%/*}/../lib.sh"
# It calls `check` for each expectation. An unexpected failure of another command ends the case and counts as failed.
# shellcheck shell=bash
set -Eeuo pipefail

case_name=${0##*/}
case_name=${case_name#*-}
case_name=${case_name%.sh}
scratch=/run/system-tests
work=$scratch/cases/$case_name
rm -rf "$work" && mkdir -p "$work"
chmod 755 "$scratch" "$scratch/cases" "$work"

cloud=http://127.0.0.1:8787
config=/etc/junctiond/junctiond.toml
fragments=/etc/junctiond/conf.d
state=/var/lib/private/junctiond
key=/var/lib/junctiond-key/junctiond.key
runtime_units=/run/systemd/system
trigger_limit=/etc/systemd/system/junctiond.socket.d/cases.conf
export JUNCTIOND_SOCKET=/run/junctiond/junctiond.sock

# MESSAGE_IDs of journal entries that cases use.
readonly READY_ID=62cad75fe7f24461988cab9a9b99ef3f RELOADED_ID=1ea2f77c6032493797c7584b6ec24633 \
    STATE_ID=d1656b760ae844c1a25b090826069123 SIGNED_IN_ID=7c90c2397e014e1fbb542eb03a2f7892 \
    SIGNED_OUT_ID=35b21efa753840a69b10a84d8bbd2efb TOKEN_ID=3bb2f0973b5b41f5aad267af8ae68d51 \
    REFUSED_ID=4e6f795322ce4f33859c2e1348392a37 NOT_DURABLE_ID=6b7f13f553674ee5b98fd5d77c38edfb

# ---- checks ----

verdict() { # ok|not-ok TEXT
    local number=0
    [[ ! -e $scratch/number ]] || number=$(<"$scratch/number")
    echo $((number + 1)) >"$scratch/number"
    printf '%-6s %3d  %s: %s\n' "${1/-/ }" $((number + 1)) "$case_name" "$2"
    echo "$1" >>/ci/out/verdicts
}

check() { # TEXT COMMAND...
    local text=$1 status=0
    shift
    # Without errexit, as in any condition: a function joins its steps with &&.
    if "$@" >"$work/.output" 2>&1; then
        verdict ok "$text"
    else
        status=$?
        verdict not-ok "$text"
        printf '    status %d from: %s\n' "$status" "$*" | head -n 1 | cut -c 1-300
        tail -n 25 "$work/.output" | cut -c 1-400 | sed 's/^/    | /'
    fi
}

ended_early() { # STATUS LINE COMMAND
    trap - ERR
    # The parent of this subshell reports the status.
    ((BASH_SUBSHELL == 0)) || exit "$1"
    verdict not-ok "ran to its end"
    printf '    line %s, status %s: %s\n' "$2" "$1" "$3"
    [[ ! -s $work/.errors ]] || tail -n 5 "$work/.errors" | sed 's/^/    | /'
    exit 1
}
trap 'ended_early $? $LINENO "$BASH_COMMAND"' ERR

is() { # VALUE EXPECTED
    [[ $1 == "$2" ]] || { echo "'$1' is not '$2'"; return 1; }
}

has() { # TEXT PART...
    local text=$1 part
    shift
    for part in "$@"; do
        [[ $text == *"$part"* ]] || { printf '"%s" is missing in:\n%s\n' "$part" "$text"; return 1; }
    done
}

no() { # COMMAND...: it must fail
    ! "$@"
}

ends_with() { # STATUS COMMAND...
    local wanted=$1 status=0
    shift
    "$@" || status=$?
    ((status == wanted)) || { echo "status $status instead of $wanted: $*"; return 1; }
}

dead_links() { # GUIDE...: prints their links to missing files, and missing guides
    local page link
    for page in "$@"; do
        [[ -s $page ]] || echo "there is no $page"
        while read -r link; do
            [[ -e ${page%/*}/$link ]] || echo "${page##*/}: $link"
        done < <(grep -oE '\]\([^):# ]+' "$page" | cut -c 3- || :)
    done
}

# ---- waiting ----

# Polls until the condition holds or the deadline has passed, for states without a notification.
await() { # SECONDS COMMAND...
    local deadline=$((SECONDS + $1))
    shift
    until "$@" &>/dev/null; do
        ((SECONDS < deadline)) || { echo "the condition did not hold in time: $*"; "$@"; return 1; }
        sleep 0.05
    done
}

await_snapshot() { # SECONDS PART: waits until a watcher receives a snapshot that contains PART
    grep -qm1 -F -- "$2" < <(exec timeout "$1" /usr/bin/junctionctl watch --json 2>&1) ||
        { echo "no snapshot with $2; it is: $(snapshot)"; return 1; }
}

# Remembers the current position in the journal, for `logged` and `await_journal`.
mark() {
    journalctl --sync
    # Not a cursor: with a match on a field, journalctl 252 skips the first entry after a cursor.
    since=@$EPOCHREALTIME
}

logged() { # JOURNALCTL-ARGUMENT...: prints the journal since the mark
    journalctl --sync
    journalctl -q --since="$since" "$@"
}

await_journal() { # SECONDS TEXT JOURNALCTL-ARGUMENT...
    local seconds=$1 text=$2
    shift 2
    grep -qm1 -e "$text" < <(exec timeout "$seconds" journalctl -q -f --no-tail --since="$since" -o cat "$@") ||
        { echo "not logged: $text $*"; return 1; }
}

# ---- the service ----

prop() { # PROPERTY [UNIT]
    systemctl show --property="$1" --value "${2:-junctiond.service}"
}

prop_is() { # PROPERTY VALUE [UNIT]
    is "$(prop "$1" "${3:-junctiond.service}")" "$2"
}

main_pid() { prop MainPID; }

# The daemon is another process than $old, and running.
restarted() { no is "$(main_pid)" "$old" && prop_is SubState running; }

# A drop-in for junctiond.service, or another unit, until the end of the case. Its name sorts after those of the package.
drop_in() { # NAME [UNIT] <CONTENT
    local folder=$runtime_units/${2:-junctiond.service}.d
    mkdir -p "$folder"
    cat >"$folder/zz-case-$1.conf"
    systemctl daemon-reload
}

no_drop_in() { # NAME [UNIT]
    rm -f "$runtime_units/${2:-junctiond.service}.d/zz-case-$1.conf"
    systemctl daemon-reload
}

unit() { # NAME <CONTENT: makes a unit for this case
    cat >"$runtime_units/$1"
    echo "$1" >>"$scratch/case-units"
    systemctl daemon-reload
}

# Restores the daemon to its state after the installation, without a session.
fresh() {
    stop_daemon
    systemctl start cloud.service
    curl -fsS -X POST "$cloud/sandbox/reset" -o "$work/.reset"
    if [[ -e $scratch/case-units ]]; then
        while read -r name; do
            systemctl stop --quiet "$name" 2>"$work/.errors" || :
            rm -f "$runtime_units/$name"
        done <"$scratch/case-units"
        rm "$scratch/case-units"
    fi
    rm -f "$runtime_units"/junctiond*.d/zz-case-*.conf
    rm -f /run/credstore/{signInToken,linkCode} /etc/credstore.encrypted/{junctiond.key,linkCode}
    systemctl unmask --runtime --quiet junctiond-key-init.service
    [[ ! -e $scratch/config.as-installed ]] || cp -f --remove-destination "$scratch/config.as-installed" "$config"
    rm -rf "${fragments:?}"/*
    systemctl daemon-reload
    systemctl reset-failed
    # Not `systemctl clean`, which needs the message bus; a small system has none.
    rm -rf "$state" /var/lib/junctiond
    # An earlier case may have ended before it disabled the socket.
    systemctl disable --quiet junctiond-api.socket junctiond-credentials.socket
    systemctl start junctiond.socket
    mark
}

stop_daemon() {
    systemctl stop --quiet junction-online.target junction-online.service junctiond-api.socket junctiond-credentials.socket \
        junctiond.socket junctiond.service
}

# ---- the network helper ----

couriers() { # prints the units of the running network helpers
    systemctl list-units --plain --no-legend --all --state=active,activating,deactivating 'junctiond-courier@*.service' |
        cut -d ' ' -f 1
}

no_courier() { is "$(couriers)" ""; }

# The session has one network helper, and API calls have another one. If both may exist, the case ends the other one first.
courier_pid() { prop MainPID "$(couriers | head -n 1)"; }

courier_beside() { # PID: prints the process id of the other network helper
    local unit pid
    for unit in $(couriers); do
        pid=$(prop MainPID "$unit")
        [[ $pid == "$1" ]] || { echo "$pid"; return; }
    done
}

calls() { junctionctl api GET /v2/providers; } # a request that needs a network helper

is_unavailable() { # REMEDY COMMAND...: it must fail, and the message must contain the remedy
    local remedy=$1 status=0
    shift
    "$@" >"$work/out" 2>"$work/error" || status=$?
    is "$status" 75 && has "$(<"$work/error")" providerUnavailable "network helper" "$remedy"
}

# Kills the network helpers. After `systemctl stop` they would stay until their daemon closes the connection.
end_couriers() {
    systemctl kill --signal=KILL 'junctiond-courier@*.service' 2>"$work/.errors" || :
    await 10 no_courier
}

faults() { curl -fsS "$cloud/sandbox/faults" -d "$1" -o "$work/.fault"; } # JSON

no_faults() { curl -fsS -X DELETE "$cloud/sandbox/faults" -o "$work/.fault"; }

release() { curl -fsS -X POST "$cloud/sandbox/release" -o "$work/.release"; }

await_counter() { curl -fsS "$cloud/sandbox/await?counter=$1&atLeast=$2" -o "$work/.await"; } # NAME NUMBER

# ---- the session ----

# A timeout, so that a daemon that hangs fails only one check.
junctionctl() { timeout 60 /usr/bin/junctionctl "$@"; }

# Records a secret: the last case checks that none of them is stored anywhere.
secret() { tee -a "$scratch/secrets"; }

snapshot() { junctionctl --json status || (($? == 3)); }

member() { # NAME <JSON: prints the first member with this name that is a word or a number
    grep -o "\"$1\":\"\{0,1\}[^\",}]*" | head -n 1 | sed 's/^"[^"]*":"\{0,1\}//'
}

field() { snapshot | member "$1"; } # NAME, of the snapshot

field_is() { is "$(field "$1")" "$2"; } # NAME VALUE

token() { junctionctl token "$@" | secret; }

new_user() { # NAME
    curl -fsS "$cloud/sandbox/users" -d "{\"clientUserId\":\"$1\"}" | member userId
}

sign_in_token() { # USER-ID
    curl -fsS -X POST "$cloud/sandbox/users/$1/sign-in-token" | member signInToken | secret
}

link_code() { # USER-ID
    curl -fsS -X POST "$cloud/sandbox/users/$1/link-code" | member code | secret
}

# Signs a new user in, and leaves the id in $user.
sign_in() { # NAME
    user=$(new_user "$1")
    sign_in_token "$user" | junctionctl sign-in >"$work/.sign-in"
}

counter() { curl -fsS "$cloud/sandbox/counters" | member "$1"; } # NAME

counter_is() { is "$(counter "$1")" "$2"; } # NAME VALUE

settings() { curl -fsS "$cloud/sandbox/settings" -d "$1" -o "$work/.settings"; } # JSON

# ---- callers ----

# A oneshot unit that runs a command as user app. Its output is in $work/NAME.out and $work/NAME.err.
client_unit() { # NAME COMMAND
    : >"$work/$1.out" >"$work/$1.err"
    unit "$1" <<END
[Service]
Type=oneshot
User=app
SupplementaryGroups=junction
Delegate=yes
ExecStart=$2
StandardOutput=file:$work/$1.out
StandardError=file:$work/$1.err
END
}

as() { # USER COMMAND...: with all groups of that user
    local name=$1
    shift
    timeout 60 setpriv --reuid "$name" --regid "$name" --init-groups "$@"
}

# ---- a service manager of one user ----

home=$work/home

# Starts a user manager for kiosk, as logind does at a login, with an empty home.
start_user_manager() {
    local uid
    uid=$(id -u kiosk)
    user_runtime=/run/user/$uid
    user_config=$home/.config/junctiond/junctiond.toml
    install -d -o kiosk -g kiosk -m 700 "$home" "$home/.local" "$user_runtime"
    unit "user@$uid.service" <<END
[Service]
Type=notify
User=kiosk
Environment=HOME=$home XDG_RUNTIME_DIR=$user_runtime
ExecStart=/lib/systemd/systemd --user
Delegate=yes
KillMode=mixed
TimeoutStopSec=20
END
    systemctl start "user@$uid.service"
}

stop_user_manager() {
    systemctl stop "user@$(id -u kiosk).service"
    rm -rf "$user_runtime"
}

user_does() { as kiosk env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$user_runtime" "$@"; } # COMMAND...

of_user() { user_does systemctl --user show --property="$1" --value "${2:-junctiond.service}"; } # PROPERTY [UNIT]

configure_user() { # <CONFIGURATION
    install -d -o kiosk -g kiosk -m 700 "$home/.config" "${user_config%/*}"
    cat >"$user_config"
}

# ---- the package ----

is_deb() { [[ $PACKAGE == *.deb ]]; }

install_package() {
    if is_deb; then
        dpkg -i "$PACKAGE" "$SANDBOX"
    else
        # The documented steps after `make install`.
        cp -a "$PACKAGE"/* / && systemd-sysusers && systemctl daemon-reload && systemctl enable --now junctiond.socket &&
            systemctl try-restart junctiond.service
    fi
}
