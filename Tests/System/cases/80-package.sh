#!/usr/bin/env bash
# An upgrade keeps the session and edited files, and no request fails; a removal keeps the state; a purge erases it.
. "${0%/*}/../lib.sh"
is_deb || exit 0
fresh

edit="# edited by the administrator"
echo "$edit" >>"$config"
sign_in anna
token=$(token)
version=$(dpkg-query -W -f '${Version}' junctiond)

# The package as its next version, with a new default configuration if there is a comment for it, and another network helper if
# there is a program for it.
next_version() { # VERSION [COMMENT [COURIER]]
    rm -rf "$work/next"
    dpkg-deb -R "$PACKAGE" "$work/next"
    sed -i "s/^Version: .*/Version: $1/" "$work/next/DEBIAN/control"
    [[ ! ${2:-} ]] || echo "# $2" >>"$work/next$config"
    [[ ! ${3:-} ]] || install -m 755 "$3" "$work/next/usr/bin/junctiond-courier"
    dpkg-deb --root-owner-group -Znone -b "$work/next" "$work/junctiond_$1.deb" >"$work/.errors"
}

asks() { # requests tokens until $work/enough exists
    local answer status
    while [[ ! -e $work/enough ]]; do
        status=0
        answer=$(junctionctl token 2>&1) || status=$?
        [[ $status == 0 && $answer == "$token" ]] || echo "exit code $status: ${answer:0:200}" >>"$work/failed"
        echo >>"$work/answers"
    done
}

installed_version() { dpkg-query -W -f '${Version}' junctiond; }
is_edited() { is "$(tail -n 1 "$config")" "$edit"; }
is_the_same_session() { field_is userId "$user" && is "$(junctionctl token)" "$token"; }
listens_since() { prop ActiveEnterTimestampMonotonic junctiond.socket; }

# ---- an upgrade under load ----

next_version 99.1-1
old=$(main_pid)
since_listening=$(listens_since)
: >"$work/failed" >"$work/answers"
trap 'touch "$work/enough"' EXIT
asks &
asker=$!
await 10 test -s "$work/answers"
check "another version installs over the present one" dpkg -i "$work/junctiond_99.1-1.deb"
answers=$(wc -l <"$work/answers")
more_answers() { (($(wc -l <"$work/answers") > answers)); }
await 10 more_answers
touch "$work/enough"
wait "$asker" || :
check "dpkg reports the new version" is "$(installed_version)" 99.1-1
check "the daemon was restarted" no is "$(main_pid)" "$old"
check "the new daemon runs" prop_is ActiveState active
check "the daemon has a network helper" calls
check "the socket listened all the time" is "$(listens_since)" "$since_listening"
check "no request failed during the upgrade" is "$(<"$work/failed")" ""
check "the session is the same" is_the_same_session
check "the edited configuration is unchanged" is_edited

# ---- an upgrade from a version whose network helper had its socket elsewhere ----

sed -i "s|^ListenStream=.*|ListenStream=/run/junctiond-courier.sock|" /usr/lib/systemd/system/junctiond-courier.socket
systemctl daemon-reload
systemctl restart junctiond-courier.socket
await 10 test -S /run/junctiond-courier.sock
check "a version installs over one whose network helper listened elsewhere" dpkg -i "$work/junctiond_99.1-1.deb"
check "the daemon reaches its network helper" calls
check "the old socket is gone" no test -e /run/junctiond-courier.sock
check "the session is the same" is_the_same_session

# ---- upgrades in special situations ----

next_version 99.2-1 "a new default"
check "a version with a new default configuration installs" \
    dpkg --force-confdef --force-confold -i "$work/junctiond_99.2-1.deb"
check "the edited configuration is still unchanged" is_edited
check "the new default is in the .dpkg-dist file" grep -q '^# a new default' "$config.dpkg-dist"
rm "$config.dpkg-dist"
check "the session is the same" is_the_same_session

old=$(main_pid)
sed -i '1i nonsense = true' "$config"
check "a version installs over an invalid configuration" dpkg --force-confdef --force-confold -i "$PACKAGE"
check "the running daemon is not restarted" is "$(main_pid)" "$old"
check "the running daemon still serves the session" is_the_same_session
check "the daemon has a network helper" calls

# A daemon that was not restarted, and a network helper with another version of the format.
cat >"$work/courier" <<'END'
#!/bin/sh
[ $# = 0 ] || exec echo junctiond-courier 99.3
# Greets with version 99 of the format.
printf '\000\000\000\002\000\000\000\000\201\000\143' >&0
exec cat >/dev/null
END
# The unit has to allow the interpreter of the script, and its programs.
drop_in script junctiond-courier@.service <<<$'[Service]\nExecPaths=/bin/sh /bin/cat'
next_version 99.3-1 '' "$work/courier"
end_couriers
dpkg --force-confdef --force-confold -i "$work/junctiond_99.3-1.deb" >"$work/installation" 2>&1
check "a version with another network helper installs, and prints the remedy" \
    has "$(<"$work/installation")" "unable to renew" "systemctl restart junctiond"
check "the running daemon is not restarted" is "$(main_pid)" "$old"
check "the running daemon still serves the session" is_the_same_session
check "a request that needs the network fails, and names the remedy" \
    is_unavailable "restart junctiond" calls
dpkg --force-confdef --force-confold -i "$PACKAGE" >"$work/installation" 2>&1
sed -i 1d "$config"
no_drop_in script junctiond-courier@.service
check "with a valid configuration a restart succeeds" systemctl restart junctiond.service
check "the daemon has a network helper again" calls
check "the session is the same" is_the_same_session

systemctl disable --quiet junctiond.socket
check "the same version installs again" dpkg --force-confdef --force-confold -i "$PACKAGE"
check "a socket that the administrator disabled stays disabled" is "$(systemctl is-enabled junctiond.socket || :)" disabled
systemctl enable --quiet junctiond.socket
check "the session is the same" is_the_same_session

# ---- an upgrade with stopped units ----

stop_daemon
check "a version installs while the socket is stopped" dpkg --force-confdef --force-confold -i "$PACKAGE"
check "units that the administrator stopped stay stopped" \
    is "$(systemctl is-active junctiond.socket junctiond.service | paste -sd ' ' || :)" "inactive inactive"
systemctl start junctiond.socket
check "the session is the same" is_the_same_session

# ---- an upgrade with daemons of users ----

start_user_manager
configure_user <<END
[junction]
authUrl = "$cloud"
apiUrl = "$cloud"
END
upgrade() { dpkg --force-confdef --force-confold -i "$work/junctiond_99.4-1.deb" >"$work/installation" 2>&1; }
users_pid() { of_user MainPID; }

next_version 99.4-1
user_does systemctl --user start junctiond.socket
check "a version installs while a user's own daemon is not running" upgrade
check "the user's daemon is not started" is "$(of_user ActiveState)" inactive

user_does systemctl --user start junctiond.service
bert=$(new_user bert)
sign_in_token "$bert" | user_does junctionctl sign-in >"$work/.sign-in"
old=$(users_pid)
check "a version installs while the user's daemon is running" upgrade
check "the user's daemon was restarted" no is "$(users_pid)" "$old"
check "the new daemon runs" is "$(of_user ActiveState)" active
check "the user's daemon has the session" is "$(user_does junctionctl --json status | member userId)" "$bert"
check "the user's daemon has a network helper" user_does junctionctl renew
check "the installation reports no daemon that was not restarted" is "$(grep 'was not restarted' "$work/installation" || :)" ""

old=$(users_pid)
echo 'nonsense = true' >>"$user_config"
check "a version installs while the user's configuration is invalid" upgrade
check "the user's daemon is not restarted" is "$(users_pid)" "$old"
check "the installation reports that the user's daemon was not restarted" \
    has "$(<"$work/installation")" "user with the number $(id -u kiosk) was not restarted"
stop_user_manager

# ---- an upgrade with an instance ----

printf 'provider = "junction"\n[junction]\nauthUrl = "%s"\napiUrl = "%s"\n' "$cloud" "$cloud" >/etc/junctiond/second.toml
systemctl enable --quiet --now junctiond@second.socket
second=$(new_user second)
sign_in_token "$second" | junctionctl --instance second sign-in >"$work/.sign-in"
has_second() { is "$(junctionctl --instance second --json status | member userId)" "$second"; }
old=$(prop MainPID junctiond@second.service)
next_version 99.5-1
check "a version installs while an instance is running" \
    dpkg --force-confdef --force-confold -i "$work/junctiond_99.5-1.deb"
check "the instance was restarted" no is "$(prop MainPID junctiond@second.service)" "$old"
check "the instance has its session" has_second
old=$(prop MainPID junctiond@second.service)
echo 'nonsense = true' >>/etc/junctiond/second.toml
dpkg --force-confdef --force-confold -i "$PACKAGE" >"$work/installation" 2>&1
check "an instance with an invalid configuration is not restarted" is "$(prop MainPID junctiond@second.service)" "$old"
check "the installation names the instance" has "$(<"$work/installation")" "junctiond@second was not restarted"
sed -i '$d' /etc/junctiond/second.toml
systemctl restart junctiond@second.service

# ---- the package of an app, with its own entry ----

app_package() { # NAME <SETTINGS: makes a package of the app
    mkdir -p "$work/$1/DEBIAN" "$work/$1$fragments"
    printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: app <app@example.com>\nDescription: an app\n' "$1" \
        >"$work/$1/DEBIAN/control"
    echo "$fragments/50-$1.toml" >"$work/$1/DEBIAN/conffiles"
    cat >"$work/$1$fragments/50-$1.toml"
    dpkg-deb --root-owner-group -Znone -b "$work/$1" "$work/$1.deb" >"$work/.errors"
}

app_package health-sync <<'END'
[[access]]
allow = ["status", "token"]
user = "app"
END
app_package broken <<<'nonsense = 1'
pid=$(main_pid)
check "without any entry a member of the socket's group may see the status" as kiosk junctionctl status
check "the package of an app installs" dpkg -i "$work/health-sync.deb"
check "the app may get a token at once" as app junctionctl token
check "with this first entry a member of the socket's group may do nothing" ends_with 77 as kiosk junctionctl status
check "the process is the same" is "$(main_pid)" "$pid"
dpkg -i "$work/broken.deb" >"$work/installation" 2>&1
check "a package with an invalid file installs, and the installation names the file" \
    has "$(<"$work/installation")" "$fragments/50-broken.toml:1: nonsense: unknown key" "systemctl reload junctiond"
check "the app may still see the status" as app junctionctl status
check "the package can be purged" dpkg -P broken
check "the app may still see the status" as app junctionctl status
check "the app's package can be purged" dpkg -P health-sync
check "a member of the socket's group may see the status again" as kiosk junctionctl status
check "the process is still the same" is "$(main_pid)" "$pid"
check "the app's package can be installed again" dpkg -i "$work/health-sync.deb"
echo '# local' >"$fragments/99-local.toml"

# ---- removal and reinstallation ----

record=$(sha256sum "$state/session.sealed" "$key" "$config")
start_user_manager
user_does systemctl --user start junctiond.socket
remove() { dpkg -r junctiond >"$work/installation" 2>&1; }
check "the package can be removed" remove
check "the removal says that the daemons of users keep their sessions" has "$(<"$work/installation")" "their sessions are kept"
stop_user_manager
check "the daemon is gone" is "$(systemctl is-active junctiond.service || :)" inactive
check "the socket is gone" no test -e "$JUNCTIOND_SOCKET"
check "the network helper is gone" no_courier
check "the network helper's socket is gone" no test -e /run/junctiond/courier.sock
check "the programs are gone" no test -e /usr/bin/junctiond
check "the instance is gone, and its state stays" \
    is "$(systemctl is-active junctiond@second.service junctiond@second.socket | paste -sd ' ' || :) $(cd /var/lib/private && ls -d junctiond@*)" \
    "inactive inactive junctiond@second"
check "the state, its key and the configuration stay" \
    is "$(sha256sum "$state/session.sealed" "$key" "$config")" "$record"
check "the package can be installed again" dpkg --force-confdef --force-confold -i "$PACKAGE"
check "the socket listens again" is "$(systemctl is-active junctiond.socket)" active
check "the session is back" is_the_same_session
check "the session of the instance is back" has_second
check "the daemon has a network helper after the reinstallation" calls
check "the edited configuration is unchanged" is_edited

# ---- purging ----

leftovers() {
    # Files of the cases, and records of dpkg and the service manager.
    find /etc /usr /var /run -xdev \( -name 'junctiond*' -o -name 'junctionctl*' -o -name 'junction-*' \) \
        -not -path '/etc/systemd/system/junctiond.s*.d*' -not -path '/run/systemd/*' \
        -not -path "$scratch/*" -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' -not -path '/usr/local/*' \
        -not -path '/var/cache/*' -not -path '/var/tmp/*'
}

# A provider that ends a login at a sign-out.
social_api_key="sandbox-api-key"
use_social() {
    install -D -m 644 /dev/stdin /etc/junctiond/social.key <<<"$social_api_key"
    printf 'provider = "social"\n[social]\napiUrl = "%s"\napiKeyFile = "/etc/junctiond/social.key"\n' "$cloud" >"$config"
    systemctl restart junctiond.service
}
logins() { curl -fsS "$cloud/sandbox/social/logins" | grep -o '"isAlive":true' | grep -c . || :; }
purge() { dpkg -P junctiond >"$work/installation" 2>&1; }
again() { dpkg --force-confdef --force-confold --force-confmiss -i "$PACKAGE" >"$work/installation" 2>&1; }
install_and_sign_in() {
    check "the package installs again" again
    use_social
    junctionctl sign-in --user-id anna >"$work/.sign-in"
}

junctionctl sign-out >"$work/.sign-out"
use_social
junctionctl sign-in --user-id anna >"$work/.sign-in"
junctionctl --instance second sign-out >"$work/.sign-out"
cp "$config" /etc/junctiond/second.toml
systemctl restart junctiond@second.service
junctionctl --instance second sign-in --user-id bert >"$work/.sign-in"
systemctl enable --quiet --now junctiond-api@second.socket
check "the provider has the login of each installation" is "$(logins)" 2
mkdir /srv/shared
: >/srv/shared/file
ln -s /srv/shared /etc/junctiond/second.conf.d
check "a purge with a signed-in user succeeds" purge
check "the purge removes the link to a folder" no test -L /etc/junctiond/second.conf.d
check "the purge keeps the folder behind the link" test -e /srv/shared/file
rm -r /srv/shared
check "the provider has no login after the purge" is "$(logins)" 0
check "the purge prints no warning" is "$(grep 'may stay alive' "$work/installation" || :)" ""
check "the groups are gone" is "$(getent group junction junctiond-keeper || :)" ""

install_and_sign_in
systemctl stop --quiet cloud.service
check "a purge succeeds while the provider is unreachable" purge
check "that purge prints a warning" has "$(<"$work/installation")" "may stay alive"
systemctl start cloud.service

install_and_sign_in
check "the package can be removed" remove
check "the removal says that the user stays signed in, and how to sign out" has "$(<"$work/installation")" \
    "The user of junctiond stays signed in" "sudo junctionctl sign-out"
check "the session stays for a later installation" test -e "$state/session.sealed"
check "a purge after the removal succeeds" purge
check "the purge after the removal prints a warning" has "$(<"$work/installation")" "may stay alive"

# apt removes the package first, and purges it then.
apt_purge() { apt-get -y purge junctiond >"$work/installation" 2>&1; }
install_and_sign_in
check "a purge by apt with a signed-in user succeeds" apt_purge
check "that purge says that the user stays signed in, and how to sign out" has "$(<"$work/installation")" \
    "The user of junctiond stays signed in" "sudo junctionctl sign-out"
check "that purge prints a warning" has "$(<"$work/installation")" "may stay alive"
check "the purge by apt erases the session" no test -e "$state"
install_and_sign_in
alive=$(logins)
junctionctl sign-out >"$work/.sign-out"
check "after a sign-out a purge by apt succeeds" apt_purge
check "that purge prints no warning" is "$(grep -E 'stays signed in|may stay alive' "$work/installation" || :)" ""
check "the sign-out has ended the login" is "$(logins)" $((alive - 1))

check "the package installs again" again
printf 'provider = "junction"\n[junction]\nauthUrl = "%s"\napiUrl = "%s"\n' "$cloud" "$cloud" >"$config"
systemctl restart junctiond.service
sign_in dora
check "a purge with a user of Junction succeeds" purge
check "that purge says that the login ends with its tokens" has "$(<"$work/installation")" "Junction cannot be told of a sign-out"

check "the package installs once more" again
check "without a session the packages of daemon and sandbox can be purged" dpkg -P junctiond junction-sandbox
check "the service manager has no slice of network helpers" \
    is "$(systemctl list-units --all --plain --no-legend 'system-junctiond*' | cut -d ' ' -f 1)" ""
check "no empty folder for credentials is left" \
    is "$(find /etc/credstore /etc/credstore.encrypted -maxdepth 0 -empty 2>"$work/.errors")" ""
check "the state is erased" no test -e "$state"
check "the link to the state is gone" no test -L /var/lib/junctiond
check "the key is erased" no test -e "${key%/*}"
check "the key's copy in /run is erased" no test -e /run/credstore.encrypted/junctiond.key
check "below /etc/junctiond only the file of an app's package is left" \
    is "$(find "${config%/*}" -type f)" "$fragments/50-health-sync.toml"
check "the app's package can be purged, too" dpkg -P health-sync
check "/etc/junctiond is gone" no test -e "${config%/*}"
check "no other file is left" is "$(leftovers)" ""
