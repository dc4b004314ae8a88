#!/usr/bin/env bash
# Without the key, with a key that cannot be decrypted or with another key, the daemon starts, reports this and erases nothing. With the
# original key the session is back; with another key a new sign-in is possible.
. "${0%/*}/../lib.sh"
fresh

secret_of_host=/var/lib/systemd/credential.secret
sign_in anna
anna=$user
token=$(token)
record=$(sha256sum <"$state/session.sealed")

is_locked() {
    field_is status locked && has "$(prop StatusText)" locked
}

doctor_names_problem_and_remedy() {
    ends_with 1 junctionctl doctor >"$work/doctor" && cat "$work/doctor" &&
        grep -q '^problem *sealing key' "$work/doctor"
}

nothing_was_touched() {
    is "$(sha256sum <"$state/session.sealed")" "$record" && is "$(sha256sum "$key")" "$key_before"
}

restart() { systemctl restart junctiond.service; }

key_before=$(sha256sum "$key")

# The host has another secret, as after a reinstallation that kept /var/lib/junctiond-key.
mv "$secret_of_host" "$work/host-secret"
systemd-creds setup 2>"$work/.errors"
mark
check "with a key that cannot be decrypted the daemon starts" restart
check "the session is locked" is_locked
check "no client gets a token" ends_with 75 junctionctl token
check "the error is storageUnavailable" grep -q storageUnavailable <(junctionctl token 2>&1 || :)
check "doctor names the problem" doctor_names_problem_and_remedy
check "a wait for a fresh session fails" ends_with 75 junctionctl wait --for fresh
check "junction-online.target fails" no timeout 30 systemctl start junction-online.target
check "junction-online.target is not reached" prop_is ActiveState inactive junction-online.target
check "junction-online.service has failed" prop_is ActiveState failed junction-online.service
systemctl reset-failed junction-online.service
check "the journal names the remedy" grep -q "$key" <(logged -u junctiond-key-init.service -o cat)
bert=$(new_user bert)
check "a sign-in without the key fails" ends_with 75 junctionctl sign-in < <(sign_in_token "$bert")
check "the record and the key are unchanged" nothing_was_touched
mv -f "$work/host-secret" "$secret_of_host"
check "with the secret back the daemon starts" restart
check "the session is back" field_is userId "$anna"
check "the token is the same" is "$(token)" "$token"

mv "$key" "$work/key"
echo "not a key" >"$key"
key_before=$(sha256sum "$key")
check "with an invalid key file the daemon starts" restart
check "the session is locked" is_locked
check "the record and the key are unchanged" nothing_was_touched
mv -f "$work/key" "$key"
check "with the key back the daemon starts" restart
check "the session is back" is "$(token)" "$token"

# The service manager loads a key from this folder before key-init can test it. Then the journal names the remedy.
install -D -m 600 /dev/stdin /etc/credstore.encrypted/junctiond.key <<<"not a key either"
mark
check "with an invalid key in /etc/credstore.encrypted the daemon cannot start" no restart
check "the journal names the remedy" \
    grep -q '/etc/credstore.encrypted/junctiond.key.*move it' <(logged -u junctiond-key-init.service -o cat)
rm /etc/credstore.encrypted/junctiond.key
check "without that key the daemon starts" restart
check "the session is back" is "$(token)" "$token"

# No key was published, so the service manager passes none.
key_before=$(sha256sum "$key")
systemctl mask --runtime --quiet junctiond-key-init.service
rm /run/credstore.encrypted/junctiond.key
check "without a key the daemon starts" restart
check "the session is locked" is_locked
check "a sign-in without the key fails" ends_with 75 junctionctl sign-in < <(sign_in_token "$bert")
check "the record and the key are unchanged" nothing_was_touched
systemctl unmask --runtime --quiet junctiond-key-init.service
check "with the key back the daemon starts" restart
check "the session is back" is "$(token)" "$token"

# The key is lost permanently, and a new one is made.
mv "$key" "$work/key"
check "with another key the daemon starts" restart
check "the session is locked" is_locked
check "the record is unchanged" is "$(sha256sum <"$state/session.sealed")" "$record"
check "another user can sign in" junctionctl sign-in < <(sign_in_token "$bert")
check "the other user is signed in" field_is userId "$bert"
check "the storage status is ok" field_is status ok
restart
check "the state is sealed under the new key: a restart keeps the session" field_is userId "$bert"
check "the new user's token is available" junctionctl token
rm -f "$work/key"

# A sign-out needs no key.
systemctl mask --runtime --quiet junctiond-key-init.service
rm /run/credstore.encrypted/junctiond.key
restart
check "without a key a sign-out succeeds" junctionctl sign-out
systemctl unmask --runtime --quiet junctiond-key-init.service
restart
check "the user stays signed out when the key is back" ends_with 3 junctionctl status
