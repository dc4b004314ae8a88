#!/usr/bin/env bash
# A full disk: the service manager's file-descriptor store keeps the renewed session over restarts of the daemon.
. "${0%/*}/../lib.sh"
fresh

# Without a reuse grace a lost session cannot be restored: the old refresh token would revoke it.
settings '{"rotationGrace":0}'

# A separate file system for the state, with space for a few records; a filler takes the rest.
trap 'stop_daemon; umount --lazy "$state"' EXIT
mkdir -p "$state"
mount -t tmpfs -o size=64k,mode=700 tmpfs "$state"
filler=$state/filler
fill() { dd if=/dev/zero of="$filler" bs=512 oflag=append conv=notrunc status=none 2>"$work/.errors" || :; }

drop_in quick <<'END'
[Service]
RestartSec=100ms
END

renews() { junctionctl renew >"$work/.renew"; }
kept() { prop NFileDescriptorStore; }
is_kept() { (($(kept) > 0)) || { echo "NFileDescriptorStore is $(kept)"; return 1; }; }
was_replaced() { (($(main_pid) > 0 && $(main_pid) != $1)); }

sign_in anna
check "with free space on the disk the state is durable" field_is durable true
check "the file-descriptor store is empty" is "$(kept)" 0
fill

mark
check "on a full disk a renewal succeeds" renews
token=$(token)
check "the session has the new token" field_is generation 2
check "the session is not durable" field_is durable false
check "the status line says that the session is not on disk" has "$(prop StatusText)" "not on disk"
check "the journal says that the session is not on disk" await_journal 5 . "MESSAGE_ID=$NOT_DURABLE_ID"
check "a sealed copy is in the service manager's store" is_kept

check "the daemon restarts" systemctl restart junctiond.service
check "the daemon has the renewed session" field_is generation 2
check "the token is the same" is "$(token)" "$token"
check "the user is the same" field_is userId "$user"
check "the session is still not durable" field_is durable false
check "the copy is still in the store" is_kept
check "the session can be renewed again" renews
check "the provider revoked no token family" counter_is familyRevocations 0
token=$(token)

old=$(main_pid)
kill -KILL "$old"
check "after SIGKILL the service manager starts another process" await 10 was_replaced "$old"
check "the newest session is back" is "$(token)" "$token"
check "the token has generation 3" field_is generation 3
check "the store has at most two descriptors" test "$(kept)" -le 2

# An invalid configuration must not cost the copy, with or without a waiting client, and neither must the correcting reload.
echo 'nonsense = 1' >>"$config"
check "a restart with an invalid configuration succeeds, because the process keeps the copy" systemctl restart junctiond.service
check "the copy is still in the store" is_kept
check "no client gets a token" ends_with 78 junctionctl token
cp "$scratch/config.as-installed" "$config"
check "a reload with a valid configuration succeeds" systemctl reload junctiond.service
check "the newest session is back" is "$(token)" "$token"
check "the token has generation 3" field_is generation 3
check "the store still has the copy" is_kept

rm "$filler"
check "with free space again the session becomes durable" await_snapshot 30 '"durable":true'
check "the store is empty again" await 5 prop_is NFileDescriptorStore 0
systemctl stop --quiet junctiond.service
systemctl start junctiond.service
check "after a stop and a start the token is the same" is "$(token)" "$token"
check "the session is durable" field_is durable true
check "a renewal succeeds" renews
check "the provider has revoked no token family" counter_is familyRevocations 0

# A sign-out on a full disk must not be undone by a copy.
fill
check "another renewal on the full disk succeeds" renews
check "the store has a copy" is_kept
check "a sign-out on the full disk reports that it is not durable" ends_with 75 junctionctl sign-out
check "the daemon restarts once more" systemctl restart junctiond.service
check "after the restart no user is signed in" ends_with 3 junctionctl status
