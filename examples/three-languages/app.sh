#!/bin/sh
# An app that shares the session: waits for a session, prints `token …`, and prints `signed out` after the sign-out.
set -eu
junctionctl wait --for signed-in >/dev/null
echo "token $(junctionctl token)"
junctionctl wait --for signed-out >/dev/null
echo "signed out"
