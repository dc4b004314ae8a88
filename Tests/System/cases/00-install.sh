#!/usr/bin/env bash
# The result of an installation, on a machine without a Swift toolchain.
. "${0%/*}/../lib.sh"

units=(junctiond.service junctiond.socket junctiond-courier@.service junctiond-courier.socket junctiond-key-init.service
    junction-online.service junction-online.target junctiond-api.socket junctiond-credentials.socket
    junctiond-restart@.service junctiond-token-file@.service junctiond@.service junctiond@.socket
    junctiond-courier@.socket junctiond-key-init@.service junction-online@.service junction-online@.target
    junctiond-api@.socket junctiond-credentials@.socket)
programs=(/usr/bin/junctiond /usr/bin/junctiond-courier /usr/bin/junctionctl /usr/bin/junction-sandbox)

swift_libraries() {
    { ldconfig -p && find /usr/lib /usr/local /opt -xdev -name 'libswift*.so*'; } | grep -i libswift || :
}

libraries_are_there() {
    local program
    for program in "${programs[@]}"; do
        # For a statically linked program ldd fails.
        { ldd "$program" || [[ -x $program ]]; } &>"$work/libraries" &&
            ends_with 1 grep -Ei 'not found|swift' "$work/libraries" || return 1
    done
}

says_version() {
    local program
    for program in "${programs[@]}"; do "$program" --version | grep -Eq '[0-9]+\.[0-9]+\.[0-9]+' || return 1; done
}

# The system's libcurl, so that the network helper receives its security updates.
links_curl() { ldd "$1" | grep -q 'libcurl\.so\.4 '; }
links_no_tls() { ends_with 1 grep -Ei 'curl|ssl|gnutls' <(ldd "$1"); }

verify_units() {
    local output
    output=$(systemd-analyze verify --man=no "${units[@]/#//usr/lib/systemd/system/}" 2>&1) && is "$output" ""
}

dpkg_verifies() {
    local output
    output=$(dpkg --verify junctiond junction-sandbox) && is "$output" ""
}

is_world_readable() { [[ $(stat -c %a "$1") == *4 ]]; }

check "the package and the sandbox's package install" install_package
if is_deb; then
    # The output of the check's command contains the output of postinst.
    check "the installation prints the next step" has "$(<"$work/.output")" "Next: name your provider in $config," "'sudo junctionctl sign-in --help'"
fi
[[ -x /usr/bin/junctiond ]] || exit 1
check "no Swift library is on this machine" is "$(swift_libraries)" ""
check "the programs find every library they need" libraries_are_there
check "the network helper has the system's libcurl" links_curl /usr/bin/junctiond-courier
check "the daemon has no TLS library" links_no_tls /usr/bin/junctiond
check "the programs run" says_version
check "docker finds its helper" is "$(realpath /usr/bin/docker-credential-junction)" /usr/bin/junctionctl
check "the socket is enabled" is "$(systemctl is-enabled junctiond.socket)" enabled
check "the socket listens" is "$(systemctl is-active junctiond.socket)" active
check "only the group junction may use the socket" \
    is "$(stat -c '%F %a %U:%G' "$JUNCTIOND_SOCKET")" "socket 660 root:junction"
check "the socket's folder belongs to root" is "$(stat -c '%a %U' "${JUNCTIOND_SOCKET%/*}")" "755 root"
check "the daemon is not running before the first request" is "$(systemctl is-active junctiond.service || :)" inactive
check "the network helper's socket is not active before the daemon starts" is "$(systemctl is-active junctiond-courier.socket || :)" inactive
check "the group junction exists" getent group junction
check "the group junctiond-keeper exists and has no member" \
    is "$(getent group junctiond-keeper | cut -d: -f 1,4)" junctiond-keeper:
check "systemd-analyze verify reports nothing" verify_units
check "the default configuration is valid" junctiond --check-config
check "the configuration is world-readable" is_world_readable "$config"
check "every link of the guides leads to a file" is "$(dead_links /usr/share/doc/junctiond/{README.md,docs/*.md})" ""
check "there is an empty folder for files of apps" is "$(stat -c '%a %U' "$fragments") $(ls -A "$fragments")" "755 root "
for page in man8/junctiond.8 man8/junctiond-courier.8 man1/junctionctl.1 man1/junction-sandbox.1 man5/junctiond.toml.5; do
    check "there is a manual page ${page#*/}" test -s "$(compgen -G "/usr/share/man/$page*" || echo missing)"
done
# The folder of zsh completions depends on the distribution.
for completion in bash-completion/completions/junctionctl 'zsh/*/_junctionctl' \
    fish/vendor_completions.d/junctionctl.fish; do
    check "there is a completion for ${completion%%[-/]*}" \
        test -s "$(compgen -G "/usr/share/$completion" || echo missing)"
done
if is_deb; then
    check "the configuration is a conffile" grep -q "^ $config " <(dpkg-query -W -f '${Conffiles}\n' junctiond)
    check "dpkg verifies every file" dpkg_verifies
fi

# Users for all other cases. kiosk and app may connect to the socket, stranger may not.
systemd-sysusers --inline 'u kiosk -' 'u app -' 'u stranger -' 'm kiosk junction' 'm app junction' &>"$work/.users"

# The vendor is the sandbox, which listens when its unit has started.
cp -a "$config" "$scratch/config.as-installed"
mkdir -p /etc/systemd/system/junctiond.service.d
cat >/etc/systemd/system/junctiond.service.d/sandbox.conf <<END
[Service]
Environment=JUNCTIOND_JUNCTION_AUTH_URL=$cloud JUNCTIOND_JUNCTION_API_URL=$cloud
END
# Programs of a debug build need libraries of the toolchain.
for unit in ${VISIBLE:+junctiond junctiond@ junctiond-courier@ junction-online junction-online@ junctiond-token-file@}; do
    mkdir -p "$runtime_units/$unit.service.d"
    printf '[Service]\nExecPaths=%s\n' "-${VISIBLE// / -}" >"$runtime_units/$unit.service.d/toolchain.conf"
done
# The cases start the daemon by its socket more often than TriggerLimitBurst= allows.
mkdir -p "${trigger_limit%/*}"
printf '[Socket]\nTriggerLimitBurst=1000\n' >"$trigger_limit"
cat >/etc/systemd/system/cloud.service <<'END'
[Service]
Type=notify
NotifyAccess=all
# The cloud keeps its users over a restart.
ExecStart=/bin/bash -c 'junction-sandbox --state /run/cloud.state | { read -r line; systemd-notify --ready; exec cat; }'
END
systemctl daemon-reload
check "the sandbox from the package runs" systemctl start cloud.service
