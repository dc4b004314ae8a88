#!/usr/bin/env bash
# `systemctl reload`: new access rules count at once, for open connections too; an invalid file changes nothing.
. "${0%/*}/../lib.sh"
fresh

cat >"$config" <<'END'
[[access]]
allow = ["status"]
user = "app"
END
sign_in anna
pid=$(main_pid)

check "kiosk may not see the status" ends_with 77 as kiosk junctionctl status
check "app may see the status" as app junctionctl status
check "stranger cannot connect" ends_with 77 as stranger junctionctl status

cat >>"$config" <<'END'
[[access]]
allow = ["status", "token"]
user = "kiosk"
END
mark
check "systemctl reload succeeds" systemctl reload junctiond.service
check "the journal reports the reload" await_journal 5 . "MESSAGE_ID=$RELOADED_ID"
check "kiosk may see the status now" as kiosk junctionctl status
check "kiosk may get a token" as kiosk junctionctl token
check "app may still see the status" as app junctionctl status
check "the process is the same" is "$(main_pid)" "$pid"
check "the unit is active" prop_is ActiveState active

printf '[[access]]\nallow = ["everything"]\nuser = "stranger"\n' >"$config"
mark
check "systemctl reload with an invalid file fails" no systemctl reload junctiond.service
check "the journal says that the old configuration stays in force" \
    await_journal 5 'the old one stays in force' _SYSTEMD_UNIT=junctiond.service
check "the journal names the wrong key" grep -q 'access.*allow' <(logged -o cat _SYSTEMD_UNIT=junctiond.service -p err)
check "the status line reports the refused file and the wrong key" has "$(prop StatusText)" "refused" "old one is in force" "allow"
check "kiosk may still see the status" as kiosk junctionctl status
check "the daemon still runs with the session" field_is userId "$user"
check "the process is still the same" is "$(main_pid)" "$pid"

# ---- a file that an app's package brings ----

printf '[[access]]\nallow = ["status"]\nuser = "kiosk"\n' >"$fragments/50-kiosk.toml"
cp "$scratch/config.as-installed" "$config"
mark
check "a reload with a file of an app succeeds" systemctl reload junctiond.service
names_the_file() { has "$(logged -o json "MESSAGE_ID=$RELOADED_ID")" "conf.d/50-kiosk.toml"; }
check "the journal names the file" await 5 names_the_file
check "kiosk has the rights of the file" as kiosk junctionctl status
check "kiosk has no other rights" ends_with 77 as kiosk junctionctl token
printf '\n[log]\nlevels = 3\n' >"$fragments/60-other.toml"
mark
systemctl reload junctiond.service &>"$work/.errors" || :
check "the journal names an invalid file with the line of the mistake" \
    await_journal 5 "$fragments/60-other.toml:3: log.levels: unknown key" _SYSTEMD_UNIT=junctiond.service
check "kiosk keeps its rights" as kiosk junctionctl status
rm "$fragments"/*

mark
check "a reload without the invalid file succeeds" systemctl reload junctiond.service
check "the journal reports this reload" await_journal 5 . "MESSAGE_ID=$RELOADED_ID"
check "without access entries a member of the socket's group may get a token" as kiosk junctionctl token
check "a member of the socket's group may not sign out" ends_with 77 as kiosk junctionctl sign-out
check "the status line shows the session again" prop_is StatusText "A user is signed in"

# ---- settings that a reload cannot apply while a user is signed in ----

printf 'provider = "social"\n' >"$config"
mark
check "a reload with another provider than the session's fails" no systemctl reload junctiond.service
check "the status line names the session's provider" has "$(prop StatusText)" 'belongs to provider "junction"'
check "the journal names the session's provider" await_journal 5 'belongs to provider' _SYSTEMD_UNIT=junctiond.service

waiting="waiting for a restart: limits.connections"
printf '[limits]\nconnections = 300\n' >"$config"
mark
check "a reload with a setting that needs a restart succeeds" systemctl reload junctiond.service
check "the status line names the setting" prop_is StatusText "A user is signed in; $waiting"
check "the journal names the setting" await_journal 5 limits.connections _SYSTEMD_UNIT=junctiond.service
check "junctionctl status names the setting and the remedy" has "$(junctionctl status)" limits.connections "systemctl restart junctiond"
check "the daemon still runs with the session" field_is userId "$user"
junctionctl sign-out >"$work/.sign-out"
check "after a sign-out the setting still waits for a restart" prop_is StatusText "Nobody is signed in; $waiting"
mark
check "a reload without a session succeeds" systemctl reload junctiond.service
check "the reload applies the setting" prop_is StatusText "Nobody is signed in"
check "the process is the same" is "$(main_pid)" "$pid"
check "the service manager counts no restart" prop_is NRestarts 0
check "the unit is running" prop_is SubState running
printf 'provider = "social"\n' >"$config"
check "a reload with another provider succeeds without a session" systemctl reload junctiond.service
check "the other provider is in force" has "$(junctionctl rpc daemon.info)" '"provider":"social"'
check "the process is the same" is "$(main_pid)" "$pid"
check "the watchdog timeout is unchanged" prop_is WatchdogUSec 2min
cp "$scratch/config.as-installed" "$config"
check "a reload with the first provider succeeds" systemctl reload junctiond.service
sign_in bert
check "a user can sign in" field_is state established

# ---- without the daemon ----

stop_daemon
systemctl start junctiond.socket
check "systemctl reload fails while the service is not running" no systemctl reload junctiond.service
check "the command of the guide does nothing while the service is not running" systemctl try-reload-or-restart junctiond
check "it did not start the service" is "$(systemctl is-active junctiond.service || :)" inactive
printf '[[access]]\nallow = ["status"]\nuser = "kiosk"\n' >"$config"
check "the next caller starts the service with the present file" as kiosk junctionctl status
printf '[[access]]\nallow = ["status"]\nuser = "app"\n' >"$config"
check "while the service is running, the command puts the file in force" systemctl try-reload-or-restart junctiond
check "app may see the status now" as app junctionctl status
printf '[[access]]\nallow = ["everything"]\nuser = "app"\n' >"$config"
check "while the service is running, the command fails with an invalid file" no systemctl try-reload-or-restart junctiond
check "app may still see the status" as app junctionctl status

stop_daemon
rm "$config"
says_defaults() { has "$(junctionctl doctor || :)" "ok       configuration: $config: not there; the built-in defaults are in order"; }
check "without the daemon and without the file, doctor says that the defaults apply" says_defaults
