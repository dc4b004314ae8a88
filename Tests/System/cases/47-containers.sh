#!/usr/bin/env bash
# Callers in containers of podman: what user, group and unit they count as, for each row of docs/containers.md.
. "${0%/*}/../lib.sh"
for program in podman crun newuidmap dbus-daemon; do
    command -v "$program" >"$work/.found" && continue
    echo "         containers: not run, because this root has no $program"
    # In CI no test may be skipped.
    [[ ! ${CI:-} ]] || verdict not-ok "this root has $program"
    exit 0
done
fresh

# ---- podman in a container ----

# The kernel lets a user namespace mount proc only beside one without other mounts on it, and sysfs only if it is writable.
mkdir "$work/proc"
mount -t proc proc "$work/proc"
mount -o remount,rw /sys
# A machine for tests may have no control group controllers for containers, and no right to load their device filters. The rights
# of --privileged make the containers that root starts stronger attackers.
mkdir -p /etc/containers/containers.conf.d
printf '[containers]\npids_limit = 0\n' >/etc/containers/containers.conf.d/case.conf
# Images on an overlay would need fuse-overlayfs. There are no images here.
cat >/etc/containers/storage.conf <<'END_OF_FILE'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END_OF_FILE

# A root with junctionctl and a shell. An ordinary user can use it as well. (Files below /run cannot be setuid.)
root=/var/lib/container-root
mkdir -p "$root"/{proc,sys,dev,etc,run/junctiond,usr/bin}
touch "$root"/etc/{hosts,hostname,resolv.conf} "$root/run/.containerenv"
echo root:x:0:0::/:/bin/bash >"$root/etc/passwd"
echo root:x:0: >"$root/etc/group"
# `ldd` prints the programs and their libraries, and fails for a static program.
{ ldd /usr/bin/{junctionctl,bash,mkdir,sleep} 2>"$work/.errors" || :; } | grep -o '/[^ :]*' | sort -u | xargs cp -L --parents -t "$root"
ln -s usr/bin "$root/bin"
chown -R kiosk:kiosk "$root"
install -m 4755 /usr/bin/junctionctl "$root/usr/bin/setuid-junctionctl"

echo kiosk:100000:65536 | tee -a /etc/subuid >>/etc/subgid
start_user_manager

run=(podman run --rm --network=none --volume=/run/junctiond:/run/junctiond:ro)
whoami=(--rootfs "$root" junctionctl --json whoami)
token=(--rootfs "$root" junctionctl token)
rootful() { "${run[@]}" --privileged "$@"; } # PODMAN-ARGUMENT...
rootless() { user_does "${run[@]}" "$@"; }   # PODMAN-ARGUMENT...
# With the group junction, as a unit with SupplementaryGroups= has it.
with_group() { setpriv --groups=junction "$@"; }
grouped() { with_group "${run[@]}" --privileged --group-add=keep-groups "$@"; } # PODMAN-ARGUMENT...
group=$(getent group junction | cut -d : -f 3)
app=$(id -u app)
kiosk=$(id -u kiosk)

counts_as() { # USER UNIT BASIS COMMAND...: the unit is a pattern
    local answer
    answer=$("${@:4}") || return 1
    [[ $answer == *"\"user\":$1,"* && $answer == *"\"unit\":"$2,* && $answer == *"\"basis\":\"$3\""* ]] || { echo "$answer"; return 1; }
}
scope='"libpod-*.scope"'

# ---- each row of the guide ----

sign_in anna
cat >"$fragments/50-web.toml" <<'END_OF_FILE'
[[access]]
allow = ["token"]
unit = "web.service"

[[access]]
allow = ["status"]
group = "junction"
END_OF_FILE
systemctl reload junctiond.service

check "root in a container of root is root" counts_as 0 "$scope" root rootful "${whoami[@]}"
check "a user in a container of root is the user with this number" \
    counts_as "$app" "$scope" entry rootful --user="$app" --group-add="$group" "${whoami[@]}"
check "without the group it cannot open the socket" ends_with 77 rootful --user="$app" "${whoami[@]}"
setuid() { rootful --user="$app" --group-add="$group" "$@" --rootfs "$root" setuid-junctionctl --json whoami; }
check "a setuid program of the image makes it root" counts_as 0 "$scope" root setuid
check "but not with no-new-privileges" counts_as "$app" "$scope" entry setuid --security-opt=no-new-privileges
check "root in a user namespace is the first mapped user" \
    counts_as 200000 "$scope" entry grouped --uidmap=0:200000:65536 "${whoami[@]}"
check "another user there is the mapped user" \
    counts_as 201000 "$scope" entry grouped --uidmap=0:200000:65536 --user=1000 "${whoami[@]}"
check "root in a container of a user is that user" \
    counts_as "$kiosk" "\"user@$kiosk.service\"" entry rootless --group-add=keep-groups "${whoami[@]}"
check "another user there is the subordinate user" \
    counts_as 100004 "\"user@$kiosk.service\"" entry rootless --group-add=keep-groups --user=5 "${whoami[@]}"
check "without the user's groups it cannot open the socket" ends_with 77 rootless "${whoami[@]}"
check "the error names the option that keeps the groups" has "$(rootless "${token[@]}" 2>&1 || :)" "--group-add keep-groups"
own=$(sed -n 's|^0::/system.slice/||p' /proc/self/cgroup)
check "with --cgroups=disabled the unit is that of podman" \
    counts_as "$app" "\"$own\"" entry rootful --cgroups=disabled --user="$app" --group-add="$group" "${whoami[@]}"
check "with --cgroup-manager=cgroupfs there is no unit" \
    counts_as "$app" null entry podman --cgroup-manager=cgroupfs "${run[@]:1}" --privileged --user="$app" --group-add="$group" "${whoami[@]}"

# ---- the unit of the guide ----

guide=/usr/share/doc/junctiond/docs/containers.md
# The container asks, and runs until it is stopped. (`sed` takes a bare `&` for what it has matched.)
asks="--rootfs $root bash -c 'junctionctl --json whoami; junctionctl token; trap exit TERM; sleep infinity \\& wait'"
guide_unit() { # NAME: the guide's unit web.service under another name
    sed -n '\|^# /etc/systemd/system/web.service$|,/^```$/p' "$guide" | sed -e '$d' -e "s/web/$1/g" \
        -e "s|podman run|podman run --privileged --network=none|" -e "s|registry.example.com/[^ ]*|$asks|"
}
unit web.service < <(guide_unit web)
unit other.service < <(guide_unit other)
drop_in output web.service <<<"[Service]
StandardOutput=file:$work/web.out"
has_asked() { (($(wc -l <"$work/web.out") == 2)); }
answer() { sed -n "$1p" "$work/web.out"; } # LINE
inside() { with_group podman exec "$@"; } # NAME COMMAND...
is_audited() { # UNIT
    has "$(logged -o json "MESSAGE_ID=$REFUSED_ID" "JUNCTIOND_PEER_UNIT=$1")" "\"JUNCTIOND_PEER_UID\":\"201000\"" '"JUNCTIOND_METHOD":"token.get"'
}
check "the guide's unit starts" systemctl start web.service
await 10 has_asked
check "the container's program counts as the unit" counts_as 201000 '"web.service"' entry answer 1
check "and gets the session's token" is "$(answer 2 | secret)" "$(token)"
check "so does a program that 'podman exec' starts" \
    counts_as 201000 '"web.service"' entry inside web junctionctl --json whoami
writes() { inside --user=0 web bash -c ': >/run/junctiond/file' 2>&1; }
check "the mounted folder cannot be written" has "$(writes || :)" "Read-only file system"
mark
check "the same unit under another name, with the same mapping, starts" systemctl start other.service
check "a caller in it is the same user in another unit" counts_as 201000 '"other.service"' entry inside other junctionctl --json whoami
check "and is refused" ends_with 77 inside other junctionctl token
check "the audit names the unit" await 5 is_audited other.service

# ---- containers that pretend to be in the unit ----

# Moves to a control group with this name in the control group namespace of the container, and asks for a token as user 1000.
pretends() { # GROUP COMMAND...
    "${@:2}" bash -c 'cd /sys/fs/cgroup && mkdir -p "$0" && echo $$ >"$0/cgroup.procs" && [[ $(</proc/self/cgroup) == *"0::/$0" ]] &&
        exec junctionctl --json whoami' "$1"
}
for group_name in web.service system.slice/web.service; do
    check "a container that makes the control group $group_name stays in its unit" \
        counts_as 200000 '"other.service"' entry pretends "$group_name" inside --user=0 other
done
systemctl stop other.service
without_unit() {
    with_group podman --cgroup-manager=cgroupfs "${run[@]:1}" --privileged --group-add=keep-groups --uidmap=0:200000:65536 --rootfs "$root" "$@"
}
check "a container without a unit that makes the control group web.service has none" \
    counts_as 200000 null entry pretends web.service without_unit
# As the owner of the container's control groups, outside of the unit.
enters() { setpriv --reuid=200000 --regid=200000 --clear-groups bash -c 'echo $$ >"$0"' "$1" 2>&1; }
payload=$(compgen -G '/sys/fs/cgroup/system.slice/web.service/libpod-payload-*')
check "another process of the same user cannot enter the unit" has "$(enters "$payload/cgroup.procs" || :)" "Permission denied"
split_in_manager() {
    user_does systemd-run --user --quiet --wait --pipe --collect --unit=web.service --property=Delegate=yes \
        "${run[@]}" --cgroups=split --group-add=keep-groups "${whoami[@]}"
}
check "web.service of a user's own manager is not the system's unit" \
    counts_as "$kiosk" "\"user@$kiosk.service\"" entry split_in_manager
moved() {
    systemd-run --quiet --wait --pipe --collect --unit=moved.service --property=Delegate=yes --property=User=kiosk \
        --property=SupplementaryGroups=junction --property=Environment="HOME=$home XDG_RUNTIME_DIR=$user_runtime" \
        "${run[@]}" --cgroups=split --group-add=keep-groups "${whoami[@]}"
}
check "podman moves a container from a system unit into the user manager that XDG_RUNTIME_DIR names" \
    counts_as "$kiosk" "\"user@$kiosk.service\"" entry moved
systemctl stop web.service

# ---- the guide's unit for a container of a user ----

sed -n '\|^# /etc/systemd/system/web.service, rootless$|,/^```$/p' "$guide" |
    sed -e '$d' -e "s|User=web|User=kiosk|" -e "s|cgroupfs run|cgroupfs run --network=none|" -e "s|registry.example.com/[^ ]*|$asks|" >"$work/rootless.service"
rm "$work/web.out"
unit web.service <"$work/rootless.service"
check "the guide's rootless unit starts" systemctl start web.service
await 10 has_asked
check "the container's program counts as the unit" counts_as "$kiosk" '"web.service"' entry answer 1
check "and gets the session's token" is "$(answer 2 | secret)" "$(token)"
enters_web() { as kiosk bash -c 'echo $$ >/sys/fs/cgroup/system.slice/web.service/cgroup.procs' 2>&1; }
check "another process of the same user cannot enter the delegated unit" has "$(enters_web || :)" "write error: Permission denied"
executes() {
    as kiosk env -i PATH="$PATH" HOME=/var/lib/web XDG_RUNTIME_DIR=/run/web podman --cgroup-manager=cgroupfs exec web junctionctl token 2>&1
}
check "nor by podman exec" has "$(executes || :)" "cgroup.procs" "Permission denied"
systemctl stop web.service

# ---- the file instead of the folder ----

with_file() { rootful --detach --name=with-file --volume="$JUNCTIOND_SOCKET:/run/file.sock" --rootfs "$root" sleep infinity; }
asks_file() { podman exec with-file junctionctl --socket /run/file.sock status; }
check "a container with the file of the socket starts" with_file
check "and can use the socket" asks_file
systemctl restart junctiond.socket
check "after a restart of the socket's unit the file leads to no daemon" ends_with 69 asks_file
check "and the folder to the new socket" podman exec with-file junctionctl status
podman rm --force --time=0 with-file >"$work/.removed"

# ---- the daemon of one user ----

user_does systemctl --user start junctiond.socket
own_root() {
    user_does podman run --rm --network=none --volume="$user_runtime/junctiond:/run/junctiond:ro" "$@" "${whoami[@]}"
}
check "root in a container of a user is the user of that user's own daemon" counts_as "$kiosk" '*' daemonUser own_root
check "another user there cannot open the socket" ends_with 77 own_root --user=5
user_does systemctl --user stop junctiond.socket junctiond.service

stop_user_manager

# ---- what the kernel cannot name ----

cat >"$fragments/50-web.toml" <<'END_OF_FILE'
[[access]]
allow = ["token"]
user = "nobody"

[[access]]
allow = ["status"]
END_OF_FILE
drop_in users <<<$'[Service]\nPrivateUsers=yes'
check "an entry for nobody is reported" has "$(junctiond --check-config 2>&1)" "access[0] allows nothing: 65534 (nobody)"
systemctl restart junctiond.service
check "a daemon in a user namespace takes a user for nobody, and gives nothing" \
    counts_as 65534 '*' unmapped as app junctionctl --json whoami
check "no token either" ends_with 77 as app junctionctl token
no_drop_in users
systemctl restart junctiond.service
check "without the namespace the user counts as itself" counts_as "$app" '*' entry as app junctionctl --json whoami

# A daemon in namespaces of its own, and a caller in a unit that an entry denies.
cat >"$work/namespace.toml" <<'END_OF_FILE'
[[access]]
allow = []
unit = "denied.service"

[[access]]
allow = ["status"]
END_OF_FILE
own_socket=$work/namespace/junctiond.sock
mkdir "$work/namespace"
asks_as_denied() {
    systemd-run --quiet --wait --pipe --collect --unit=denied.service --property=User=app \
        junctionctl --socket "$own_socket" --json whoami
}
for namespace in --cgroup '--pid --fork --mount-proc'; do
    unit namespace.service <<END_OF_FILE
[Service]
UMask=0
ExecStart=unshare $namespace junctiond --config $work/namespace.toml --socket $own_socket --state-dir $work/namespace/state
END_OF_FILE
    systemctl start namespace.service
    chmod_socket() { chmod 666 "$own_socket"; }
    await 10 chmod_socket
    check "unshare $namespace: a caller outside of the daemon's namespace has no known unit and gets nothing" \
        counts_as "$app" null unitUnknown asks_as_denied
    systemctl stop namespace.service
done
umount "$work/proc"
mount -o remount,ro /sys
rm -rf /etc/containers/{containers.conf.d/case.conf,storage.conf} "$root" "$home"
