#!/usr/bin/env bash
# After all cases: no token, no code and no key is in the journal.
. "${0%/*}/../lib.sh"

journalctl --sync
journalctl -q --all -o export >"$work/journal"

check "secrets were seen" test -s "$scratch/secrets"
check "the journal is readable" grep -qaF 'JUNCTIOND_USER_ID=' "$work/journal"
check "none of them is in the journal" ends_with 1 grep -qaFf "$scratch/secrets" "$work/journal"
check "nothing in it looks like an access or a refresh token" \
    ends_with 1 grep -qaE '\b(at|rt)_[0-9a-f]{16}' "$work/journal"
check "nor like a signed token" ends_with 1 grep -qaE 'eyJ[A-Za-z0-9_-]{20}' "$work/journal"
rm -f "$work/journal"
