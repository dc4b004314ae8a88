#!/bin/sh
# An app that shares the session: waits until somebody is signed in, prints `token …`, and `signed out` when that is over.
set -eu
junctionctl wait --for signed-in >/dev/null
echo "token $(junctionctl token)"
junctionctl wait --for signed-out >/dev/null
echo "signed out"
