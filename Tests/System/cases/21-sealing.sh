#!/usr/bin/env bash
# The key that seals the state: made once, encrypted for this host, passed only to the daemon.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
passed=/run/credentials/junctiond.service

key_on_disk_is_encrypted() {
    systemd-creds decrypt --name=junctiond.key "$key" "$work/key" && is "$(stat -c %s "$work/key")" 32 &&
        (($(base64 -d "$key" | wc -c) > 64))
}

names_host() { grep -qi 'host' <(junctionctl doctor | grep -A 1 -i 'seal'); }

doctor_finds_no_problem() {
    junctionctl doctor >"$work/doctor" || { cat "$work/doctor"; return 1; }
}

check "the key on the disk is encrypted" key_on_disk_is_encrypted
check "only root can read the key on the disk" is "$(stat -c '%a %U' "$key" "${key%/*}" | xargs)" "600 root 700 root"
check "the daemon received the same 32 bytes" cmp "$work/key" "$passed/junctiond.key"
check "storage.sealedWith names the protection of the state" field_is sealedWith host
check "storage.status is ok" field_is status ok
check "doctor finds no problem" doctor_finds_no_problem
check "doctor names the protection of the state" names_host
check "there is no key beside the state" no test -e "$state/junctiond.key"

before=$(sha256sum "$key")
systemctl restart junctiond.service
check "a restart keeps the key" is "$(sha256sum "$key")" "$before"
check "a restart keeps the session" field_is userId "$user"
rm -f "$work/key"
