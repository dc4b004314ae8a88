#!/usr/bin/env bash
# The daemon of one user, under the user's service manager (`systemctl --user`), with an unlocked state and its own network helper.
. "${0%/*}/../lib.sh"
fresh

start_user_manager
status_member() { user_does junctionctl --json status | member "$1"; } # NAME

check "the user can start the socket" user_does systemctl --user start junctiond.socket
check "only the user may use the socket" is "$(stat -c '%U %a' "$user_runtime/junctiond/junctiond.sock")" "kiosk 600"
check "a new user has no configuration" no test -e "$user_config"
check "a connection starts the daemon" ends_with 3 user_does junctionctl status
check "the daemon has the built-in defaults" is "$(status_member provider)" junction

# A configuration that is created later.
configure_user <<<'provider = "nonsense"'
check "a restart with a new invalid configuration fails" \
    no user_does systemctl --user restart junctiond.service
configure_user <<END
provider = "junction"
[junction]
authUrl = "$cloud"
apiUrl = "$cloud"
END
check "a restart with a valid configuration succeeds" user_does systemctl --user restart junctiond.service
check "the daemon is active" is "$(of_user ActiveState)" active
check "the storage is ok and sealed with a file" is "$(status_member sealedWith) $(user_does junctionctl --json status | grep -o '"status":"ok"')" \
    'file "status":"ok"'
check "only the user can access the state in the user's home" \
    is "$(stat -c '%U %a' "$home/.local/state/junctiond")" "kiosk 700"

anna=$(new_user anna)
check "a user can be signed in" user_does junctionctl sign-in < <(sign_in_token "$anna")
check "the session belongs to that user" is "$(status_member userId)" "$anna"
token=$(user_does junctionctl token | secret)
check "the user's own network helper sent the request" has "$(user_does systemctl --user list-units --all --plain --no-legend)" junctiond-courier@
check "a restart keeps the session" user_does systemctl --user restart junctiond.service
check "the token is the same" is "$(user_does junctionctl token)" "$token"
check "a reload succeeds" user_does systemctl --user reload junctiond.service
check "no user is signed in at the system's daemon" ends_with 3 junctionctl status

# Another installation of the same user. JUNCTIOND_INSTANCE in the environment of the service manager does not change the first one.
user_does systemctl --user set-environment JUNCTIOND_INSTANCE=second
cp "$user_config" "${user_config%/*}/second.toml"
check "a user can start an instance" user_does systemctl --user start junctiond@second.socket
bert=$(new_user bert)
check "another user can be signed in there" user_does junctionctl --instance second sign-in < <(sign_in_token "$bert")
check "the session of the instance belongs to that user" \
    is "$(user_does junctionctl --instance second --json status | member userId)" "$bert"
check "the state of the instance is beside the other one" test -s "$home/.local/state/junctiond@second/session.sealed"
check "a restart of the first one succeeds" user_does systemctl --user restart junctiond.service
check "the first session is the same" is "$(status_member userId)" "$anna"
user_does systemctl --user stop junctiond@second.socket
user_does systemctl --user stop junctiond.socket
check "after a stop of the socket the socket file is gone" \
    test ! -e "$user_runtime/junctiond/junctiond.sock"
stop_user_manager
