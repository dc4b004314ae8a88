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
check "with room the state is durable" field_is durable true
check "and nothing is in the store" is "$(kept)" 0
fill

mark
check "on a full disk a renewal succeeds" renews
token=$(token)
check "the new token is served" field_is generation 2
check "the session is not durable" field_is durable false
check "the status line says so" has "$(prop StatusText)" "not on disk"
check "the journal says so" await_journal 5 . "MESSAGE_ID=$NOT_DURABLE_ID"
check "a sealed copy is in the service manager's store" is_kept

check "the daemon restarts" systemctl restart junctiond.service
check "it comes up with the renewed session" field_is generation 2
check "the token is the same" is "$(token)" "$token"
check "the user is the same" field_is userId "$user"
check "it is still not durable" field_is durable false
check "the copy is still in the store" is_kept
check "the session can be renewed again" renews
check "the provider took the newest refresh token" counter_is familyRevocations 0
token=$(token)

old=$(main_pid)
kill -KILL "$old"
check "after SIGKILL another daemon comes" await 10 was_replaced "$old"
check "the newest session is back" is "$(token)" "$token"
check "with the third generation of the token" field_is generation 3
check "the store does not fill up" test "$(kept)" -le 2

# An invalid configuration must not cost the copy, with or without a waiting client, and neither must the correcting reload.
echo 'nonsense = 1' >>"$config"
check "a restart with a refused configuration keeps the process, for the sake of the copy" systemctl restart junctiond.service
check "the copy is still in the store" is_kept
check "no client gets a token" ends_with 78 junctionctl token
cp "$scratch/config.as-installed" "$config"
check "a reload with the configuration put right succeeds" systemctl reload junctiond.service
check "the newest session is back" is "$(token)" "$token"
check "with the third generation of the token" field_is generation 3
check "the store still has it" is_kept

rm "$filler"
check "with room again it becomes durable" await_snapshot 30 '"durable":true'
check "and the store is emptied" await 5 prop_is NFileDescriptorStore 0
systemctl stop --quiet junctiond.service
systemctl start junctiond.service
check "the disk has it: a stop loses nothing" is "$(token)" "$token"
check "the session is durable" field_is durable true
check "renewing goes on" renews
check "no sign-in was broken" counter_is familyRevocations 0

# A sign-out on a full disk must not be undone by a copy.
fill
check "a renewal on the full disk once more" renews
check "it is kept in the store" is_kept
check "a sign-out on the full disk says that it is not durable" ends_with 75 junctionctl sign-out
check "the daemon restarts once more" systemctl restart junctiond.service
check "no user is signed in after it" ends_with 3 junctionctl status
