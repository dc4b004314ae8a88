#!/usr/bin/env bash
# After all cases: no token, no code and no key is in the journal.
. "${0%/*}/../lib.sh"

journalctl --sync
journalctl -q --all -o export >"$work/journal"

check "the cases recorded secrets" test -s "$scratch/secrets"
check "the journal is readable" grep -qaF 'JUNCTIOND_USER_ID=' "$work/journal"
check "the journal contains no recorded secret" ends_with 1 grep -qaFf "$scratch/secrets" "$work/journal"
check "the journal contains no text like an access or refresh token" \
    ends_with 1 grep -qaE '\b(at|rt)_[0-9a-f]{16}' "$work/journal"
check "the journal contains no text like a signed token" ends_with 1 grep -qaE 'eyJ[A-Za-z0-9_-]{20}' "$work/journal"
rm -f "$work/journal"
