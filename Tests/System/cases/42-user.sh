#!/usr/bin/env bash
# The daemon of one user, under the user's service manager (`systemctl --user`), with an unlocked state and its own courier.
. "${0%/*}/../lib.sh"
fresh

start_user_manager
status_member() { user_does junctionctl --json status | member "$1"; } # NAME

check "the socket can be enabled by the user" user_does systemctl --user start junctiond.socket
check "only the user may use it" is "$(stat -c '%U %a' "$user_runtime/junctiond/junctiond.sock")" "kiosk 600"
check "a new user has no configuration" no test -e "$user_config"
check "a connection starts the daemon" ends_with 3 user_does junctionctl status
check "it has the built-in defaults" is "$(status_member provider)" junction

# A configuration that is created later.
configure_user <<<'provider = "nonsense"'
check "a configuration that appears later is read at the next start, and refused if it is wrong" \
    no user_does systemctl --user restart junctiond.service
configure_user <<END
provider = "junction"
[junction]
authUrl = "$cloud"
apiUrl = "$cloud"
END
check "the right one is in force at the next start" user_does systemctl --user restart junctiond.service
check "and it says that it is ready" is "$(of_user ActiveState)" active
check "nothing is locked" is "$(status_member sealedWith) $(user_does junctionctl --json status | grep -o '"status":"ok"')" \
    'file "status":"ok"'
check "the state is where the user's state belongs, and the user's alone" \
    is "$(stat -c '%U %a' "$home/.local/state/junctiond")" "kiosk 700"

anna=$(new_user anna)
check "a user can be signed in" user_does junctionctl sign-in < <(sign_in_token "$anna")
check "and is the user" is "$(status_member userId)" "$anna"
token=$(user_does junctionctl token | secret)
check "the user's own courier sent the request" has "$(user_does systemctl --user list-units --all --plain --no-legend)" junctiond-courier@
check "a restart keeps the session" user_does systemctl --user restart junctiond.service
check "with its token" is "$(user_does junctionctl token)" "$token"
check "a configuration can be loaded again" user_does systemctl --user reload junctiond.service
check "the system's own daemon is another one" ends_with 3 junctionctl status
user_does systemctl --user stop junctiond.socket
check "once it is stopped there is no socket, and the user asks the system's daemon again" \
    test ! -e "$user_runtime/junctiond/junctiond.sock"
stop_user_manager
