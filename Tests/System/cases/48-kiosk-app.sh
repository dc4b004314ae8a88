#!/usr/bin/env bash
# The app of examples/kiosk-app as a unit, installed by the commands of its README, with the backend of examples/backend.
. "${0%/*}/../lib.sh"
is_deb || exit 0
fresh

examples=/ci/examples
guide=$examples/kiosk-app/README.md
app=kiosk-app.service

end_app() {
    systemctl disable --quiet --now "$app" || :
    rm -rf "/etc/systemd/system/$app" "$runtime_units/$app.d" /usr/local/lib/kiosk-app /etc/kiosk-app
    dpkg -P node-junctiond
}
trap 'end_app >"$work/.end" 2>&1 || :' EXIT

# Runs a block of commands of the guide. This machine has no network and needs no sudo, and the packages are in another folder.
follow() { # WORD: the block has it
    "$examples/block" -v word="$1" "$guide" >"$work/commands"
    [[ -s $work/commands ]] || { echo "the guide has no command with '$1'"; return 1; }
    (
        cd "${2:-$examples/kiosk-app}"
        sudo() { if [[ $1 == apt ]]; then dpkg -i /ci/node-junctiond_*.deb; else "$@"; fi; }
        . "$work/commands"
    )
}

# ---- the backend ----

umask 077
echo sk_us_kiosk >"$work/team-key"
for name in anna bert; do
    head -c 24 /dev/urandom | base64 | secret >"$work/$name.session"
    printf '{"user":"%s","keySHA256":"%s"}' "$name" "$(tr -d '\n' <"$work/$name.session" | sha256sum | cut -d ' ' -f 1)" >"$work/$name.json"
done
echo "[$(<"$work/anna.json"),$(<"$work/bert.json")]" >"$work/accounts.json"
: >"$work/backend.out"
unit backend.service <<END
[Service]
ExecStart=/usr/bin/python3 -I $examples/backend/backend.py $cloud $work/team-key $work/accounts.json
StandardOutput=file:$work/backend.out
END
systemctl start backend.service
await 20 test -s "$work/backend.out"
drop_in backend "$app" <<END
[Service]
Environment=BACKEND=$(<"$work/backend.out")
ExecStartPre=/bin/sh -c '/usr/bin/junctionctl token; echo "token: \$?"'
END
umask 022

says() { await_journal 30 "^$1\$" -u "$app"; } # LINE
logs_in() { # [USER]
    mkdir -p "$work/new"
    if (($# > 0)); then { echo "$1"; cat "$work/$1.session"; } >"$work/new/new-account"; else : >"$work/new/new-account"; fi
    mark
    follow "new-account" "$work/new"
}

# ---- the installation, as the guide has it ----

check "the commands of the guide install the app" follow "apt install"
check "the app starts at each boot" systemctl is-enabled --quiet "$app"
check "without a user it leaves nobody signed in" says "no user -> no user: unchanged"
check "the unit of the app may not get a token" says "token: 77"

# ---- users of the app ----

check "the guide's commands give the app a user" logs_in anna
check "the app signs this user in" says "no user -> anna: signedIn"
check "nothing is left to do" says "reconcile: none"
check "the user is signed in under the app's name for it" field_is externalUserId anna
logs_in bert
check "another user of the app is switched to" says "anna -> bert: switched"
check "that user is signed in" field_is externalUserId bert

# ---- who may do what ----

check "a member of the group still gets a token" as app junctionctl token --min-validity 60
check "a member of the group cannot sign the user out" ends_with 77 as app junctionctl sign-out
client_unit other-app.service "/usr/bin/junctionctl sign-out"
check "another unit cannot sign the user out" no systemctl start other-app.service
check "the user is still signed in" field_is externalUserId bert

# ---- the daemon ends, and the app goes on ----

old=$(main_pid)
kill -KILL "$old"
check "the next daemon has the user" field_is externalUserId bert
pid=$(prop MainPID "$app")
mark
sign_in_token "$(new_user carl)" >"$work/token"
junctionctl identify carl --token-command "cat $work/token" >"$work/.sign-in"
check "the app shows a user whom another program signs in" says "state: established $(field userId)"
check "the app was not restarted" prop_is MainPID "$pid" "$app"

# ---- the user signs out of the app ----

logs_in
check "the app signs the user out" says ".* -> no user: signedOut"
check "nobody is signed in" field_is state notLoggedIn
