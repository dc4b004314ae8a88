#!/usr/bin/env bash
# The demo with only the packages: as an ordinary user, and as root with a systemd service that loads a credential.
. "${0%/*}/../lib.sh"
fresh

left_behind() { find /tmp -maxdepth 1 -name 'junction-demo-*'; systemctl list-units --all --plain --no-legend 'junction-demo-*'; }
comes_to_its_end() { "$@" junction-sandbox demo >"$work/said" && has "$(<"$work/said")" "Nothing is left running"; }

check "the demo runs to its end" comes_to_its_end as stranger
check "the demo says that only root can start a service" has "$(<"$work/said")" "Skipped: only root can start a service."
check "the demo leaves no file behind" is "$(left_behind)" ""
check "the demo of root runs to its end" comes_to_its_end env
check "a service under a user of its own gets the token" \
    grep -Eq '^  junction-demo-.*\.service, .* has a token of [1-9][0-9]* bytes\.$' "$work/said"
check "the demo of root leaves no file and no unit behind" is "$(left_behind)" ""
check "the demo does not start the daemon of this machine" is "$(systemctl is-active junctiond.service || :)" inactive
