#!/usr/bin/env bash
# A TPM that is busy when the daemon starts: the session is locked, and unlocks without an action.
#
# There is no TPM here, and the key is bound to the host. A `head` of this case makes `key-init` believe that the key needs the TPM. A
# `systemd-creds` of this case reports a busy TPM, and otherwise calls the real program.
. "${0%/*}/../lib.sh"
fresh

sign_in anna
token=$(token)
record=$(sha256sum <"$state/session.sealed")

mkdir "$work/bin"
cat >"$work/bin/head" <<'END'
#!/bin/bash
[[ "$1 $2" != "-c 20" ]] || { printf k6iUCUh0RJCQyvL8k8q1; exit; }
exec /usr/bin/head "$@"
END
cat >"$work/bin/systemd-creds" <<END
#!/bin/bash
[[ \$1 != decrypt || ! -e $work/busy ]] || { echo "Failed to unseal secret using TPM2: Device or resource busy" >&2; exit 1; }
exec /usr/bin/systemd-creds "\$@"
END
chmod 755 "$work/bin"/*
drop_in tpm junctiond-key-init.service <<END
[Service]
Environment=PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin
RestartSec=500ms
END

is_locked() { field_is status locked && has "$(prop StatusText)" locked; }
tries() { prop NRestarts junctiond-key-init.service; }
is_tried_again() { (($(tries) >= 2)) || { echo "NRestarts is $(tries)"; return 1; }; }

touch "$work/busy"
mark
check "with a TPM that is busy the daemon starts" systemctl restart junctiond.service
pid=$(main_pid)
check "the session is locked" is_locked
check "the journal announces another attempt" await_journal 10 'tried again' -u junctiond-key-init.service
check "key-init runs again" await 30 is_tried_again
check "meanwhile the daemon's process is the same" is "$(main_pid)" "$pid"
check "the record is unchanged" is "$(sha256sum <"$state/session.sealed")" "$record"
rm "$work/busy"
check "when the TPM is available, the session unlocks" await 30 field_is status ok
check "the session is anna's" field_is userId "$user"
check "the token is the same" is "$(token)" "$token"
check "no further attempt follows" await 10 prop_is ActiveState inactive junctiond-key-init.service

# A permanent failure is not retried: this key needs no TPM.
no_drop_in tpm junctiond-key-init.service
mv /var/lib/systemd/credential.secret "$work/host-secret"
systemd-creds setup 2>"$work/.errors"
check "with a key that the host alone cannot decrypt the daemon starts" systemctl restart junctiond.service
check "the session is locked" is_locked
check "no further attempt follows" prop_is ActiveState inactive junctiond-key-init.service
mv -f "$work/host-secret" /var/lib/systemd/credential.secret
systemctl restart junctiond.service
check "with the secret back the session is back" field_is userId "$user"
