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

check "kiosk may not ask" ends_with 77 as kiosk junctionctl status
check "app may ask" as app junctionctl status
check "stranger cannot connect" ends_with 77 as stranger junctionctl status

cat >>"$config" <<'END'
[[access]]
allow = ["status", "token"]
user = "kiosk"
END
mark
check "systemctl reload succeeds" systemctl reload junctiond.service
check "the journal says so" await_journal 5 . "MESSAGE_ID=$RELOADED_ID"
check "kiosk may ask now" as kiosk junctionctl status
check "kiosk may have a token" as kiosk junctionctl token
check "app may ask as before" as app junctionctl status
check "it is the same process" is "$(main_pid)" "$pid"
check "the unit is active" prop_is ActiveState active

printf '[[access]]\nallow = ["everything"]\nuser = "stranger"\n' >"$config"
mark
check "systemctl reload with an invalid file fails" no systemctl reload junctiond.service
check "the journal says that the old one stays in force" \
    await_journal 5 'the old one stays in force' _SYSTEMD_UNIT=junctiond.service
check "and which key is wrong" grep -q 'access.*allow' <(logged -o cat _SYSTEMD_UNIT=junctiond.service -p err)
check "so does the status line" has "$(prop StatusText)" "refused" "old one is in force" "allow"
check "kiosk still may ask" as kiosk junctionctl status
check "the daemon runs on, with the session" field_is userId "$user"
check "it is the same process still" is "$(main_pid)" "$pid"

# ---- a file that an app's package brings ----

printf '[[access]]\nallow = ["status"]\nuser = "kiosk"\n' >"$fragments/50-kiosk.toml"
cp "$scratch/config.as-installed" "$config"
mark
check "a file of an app is taken over" systemctl reload junctiond.service
names_the_file() { has "$(logged -o json "MESSAGE_ID=$RELOADED_ID")" "conf.d/50-kiosk.toml"; }
check "the journal names it" await 5 names_the_file
check "its rights count" as kiosk junctionctl status
check "and no others" ends_with 77 as kiosk junctionctl token
printf '\n[log]\nlevels = 3\n' >"$fragments/60-other.toml"
mark
systemctl reload junctiond.service &>"$work/.errors" || :
check "one that is refused is named with its line" \
    await_journal 5 "$fragments/60-other.toml:3: log.levels: unknown key" _SYSTEMD_UNIT=junctiond.service
check "the rights stay" as kiosk junctionctl status
rm "$fragments"/*

mark
check "the file put right is taken over" systemctl reload junctiond.service
check "the journal says so again" await_journal 5 . "MESSAGE_ID=$RELOADED_ID"
check "without rules the socket's group may do everything but manage" as kiosk junctionctl token
check "signing out is refused to them" ends_with 77 as kiosk junctionctl sign-out
check "the status line is about the session again" prop_is StatusText "A user is signed in"

# ---- settings that a reload cannot apply while a user is signed in ----

printf 'provider = "social"\n' >"$config"
mark
check "another provider than the session's fails the reload" no systemctl reload junctiond.service
check "and says so" has "$(prop StatusText)" 'belongs to provider "junction"'
check "in the journal, too" await_journal 5 'belongs to provider' _SYSTEMD_UNIT=junctiond.service

waiting="waiting for a restart: limits.connections"
printf '[limits]\nconnections = 300\n' >"$config"
mark
check "a setting that needs a restart does not fail the reload" systemctl reload junctiond.service
check "the status line names it" prop_is StatusText "A user is signed in; $waiting"
check "so does the journal" await_journal 5 limits.connections _SYSTEMD_UNIT=junctiond.service
check "and junctionctl" has "$(junctionctl status)" limits.connections "systemctl restart junctiond"
check "the daemon runs on, with the session" field_is userId "$user"
junctionctl sign-out >"$work/.sign-out"
check "it still waits after a sign-out" prop_is StatusText "Nobody is signed in; $waiting"
mark
check "a reload without a session" systemctl reload junctiond.service
check "applies the setting" prop_is StatusText "Nobody is signed in"
check "in the same process" is "$(main_pid)" "$pid"
check "without a failure" prop_is NRestarts 0
check "and is in its normal state" prop_is SubState running
printf 'provider = "social"\n' >"$config"
check "the same with another provider" systemctl reload junctiond.service
check "which is in force then" has "$(junctionctl rpc daemon.info)" '"provider":"social"'
check "the process is the same" is "$(main_pid)" "$pid"
check "the watchdog is as before" prop_is WatchdogUSec 2min
cp "$scratch/config.as-installed" "$config"
check "and back" systemctl reload junctiond.service
sign_in bert
check "a user can sign in" field_is state established

stop_daemon
rm "$config"
says_defaults() { has "$(junctionctl doctor || :)" "ok       configuration: $config: not there; the built-in defaults are in order"; }
check "without the daemon and without the file, doctor says that the defaults apply" says_defaults
