#!/usr/bin/env bash
# The demo, as an ordinary user, with only the packages.
. "${0%/*}/../lib.sh"
fresh

left_behind() { find /tmp -maxdepth 1 -name 'junction-demo-*'; }
comes_to_its_end() { as stranger junction-sandbox demo >"$work/said" && has "$(<"$work/said")" "Nothing is left running"; }

check "the demo runs to its end" comes_to_its_end
check "the demo leaves no file behind" is "$(left_behind)" ""
check "the demo does not start the daemon of this machine" is "$(systemctl is-active junctiond.service || :)" inactive
