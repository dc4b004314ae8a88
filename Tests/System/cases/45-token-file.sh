#!/usr/bin/env bash
# A unit keeps the token in a file of one user, from the boot on.
. "${0%/*}/../lib.sh"
fresh

service=junctiond-token-file@app.service
file=/run/junctiond-token-file/app/token
file_is_present_token() { [[ -e $file ]] && is "$(<"$file")" "$(junctionctl token)"; }
status_is() { is "$(prop StatusText "$service")" "$1"; }

has_other_pid() { no is "$(prop MainPID "$service")" "$1" && no is "$(prop MainPID "$service")" 0; }

printf '[Service]\nRestartSec=100ms\n' | drop_in soon "$service"
systemctl enable --quiet "$service"
check "it can be enabled" is "$(systemctl is-enabled "$service")" enabled
check "with nobody signed in it starts" timeout 20 systemctl start "$service"
check "and says so" status_is "no user is signed in"
check "there is no file" no test -e "$file"
sign_in anna
check "a sign-in writes the token" await 10 file_is_present_token
check "the file is its user's, and nobody else's" is "$(stat -c '%a %U' "$file")" "600 app"
check "its user can read it" is "$(setpriv --reuid=app --clear-groups cat "$file")" "$(junctionctl token)"
check "another user cannot" no setpriv --reuid=kiosk --regid=kiosk --clear-groups cat "$file"
check "no other program of its user can take its connection" is \
    "$(stat -c %U "/proc/$(prop MainPID "$service")/environ")" root
before=$(<"$file")
junctionctl renew >"$work/.renew"
check "a renewal writes the new token" await 10 file_is_present_token
check "which is another one" no is "$(<"$file")" "$before"
before=$(stat -c %i "$file")
mark
systemctl restart junctiond.service
check "after a restart of the daemon it connects again" await_journal 10 "the token is written" -u "$service"
check "and has left the file" is "$(stat -c %i "$file")" "$before"
junctionctl renew >"$work/.renew"
check "and the unit goes on" await 10 file_is_present_token
pid=$(prop MainPID "$service")
systemctl kill --signal=KILL "$service"
check "after a crash it starts again" await 10 has_other_pid "$pid"
check "and writes the token" await 10 file_is_present_token
junctionctl sign-out >"$work/.sign-out"
check "a sign-out removes the file" await 10 no test -e "$file"
sign_in bert
check "the next user's token is written" await 10 file_is_present_token
systemctl stop "$service"
check "a stop removes the file and its folder" no test -e "${file%/*}"
check "and is no failure" prop_is Result success "$service"

# The guide's drop-in for a group.
drop_in group "$service" <<END
[Service]
Group=junction
RuntimeDirectoryMode=0750
ExecStart=
ExecStart=/usr/bin/junctionctl --socket /run/junctiond/junctiond.sock token --output $file --follow --mode 0640
END
check "a drop-in gives the file to a group" timeout 20 systemctl start "$service"
check "which can read it" is "$(stat -c '%a %U:%G' "${file%/*}" "$file")" $'750 app:junction\n640 app:junction'
systemctl stop "$service"
no_drop_in group "$service"

# Without the right there is no file, and the reason is in the journal.
printf '[[access]]\nallow = ["status"]\nunit = "%s"\n' "$service" >"$fragments/50-token-file.toml"
systemctl reload junctiond.service
mark
systemctl start --no-block "$service"
check "without the right token it fails and says why" await_journal 10 permissionDenied -u "$service"
check "and there is no file" no test -e "$file"
systemctl stop --quiet "$service"
systemctl disable --quiet "$service"
systemctl reset-failed "$service" 2>"$work/.errors" || :
no_drop_in soon "$service"
