#!/usr/bin/env bash
# The packages of the libraries: apps in Python, JavaScript and C get a token, with no other package installed. clients/swift/check
# builds an app with the package for Swift, because this machine has no toolchain.
. "${0%/*}/../lib.sh"
is_deb || exit 0
fresh
sign_in anna
token=$(token)

gets_the_token() { # COMMAND...: it must print "token " and the session's token
    local output
    output=$(as kiosk "$@" 2>"$work/error") || { cat "$work/error"; return 1; }
    is "$output" "token $token"
}

# dpkg checks the dependencies of the packages.
check "the packages of the libraries install" dpkg -i $LIBRARIES

cat >"$work/app.py" <<'END'
import importlib.metadata
import junctiond

assert importlib.metadata.version("junctiond") == junctiond.__version__
assert junctiond.__file__.startswith("/usr/lib/python3/dist-packages/"), junctiond.__file__
with junctiond.Client() as junction:
    print("token", junction.token().token.reveal())
END
check "an app in Python gets the token" gets_the_token /usr/bin/python3 -I "$work/app.py"
check "the library is compiled for this Python" \
    test -s "$(compgen -G '/usr/lib/python3/dist-packages/junctiond/__pycache__/client.*.pyc' || echo missing)"

# As clients/js/README.md says.
mkdir "$work/node_modules"
ln -s /usr/share/nodejs/junctiond "$work/node_modules/"
cat >"$work/app.mjs" <<'END'
import { Client } from 'junctiond';

console.log('token', (await new Client().token()).token.reveal());
END
check "an app in JavaScript gets the token" gets_the_token /usr/bin/node "$work/app.mjs"
echo "import('junctiond').then(async ({ Client }) => console.log('token', (await new Client().token()).token.reveal()));" >"$work/app.cjs"
check "a CommonJS module in JavaScript gets the token" gets_the_token /usr/bin/node "$work/app.cjs"
check "the package for JavaScript has the type declarations" test -s /usr/share/nodejs/junctiond/src/index.d.ts
check "the package for Swift has the manifest" test -s /usr/share/junctiond/junctiond-clients/Package.swift

cat >"$work/app.c" <<'END'
#include <junction.h>
#include <stdio.h>

int main(void) {
    junction_error error;
    junction_token *token;
    junction *j = junction_open(NULL, &error);
    if (j == NULL || junction_access_token(j, 60, 5000, &token, &error) != JUNCTION_OK) {
        fprintf(stderr, "%s (%s)\n", error.message, error.word);
        return 1;
    }
    printf("token %s\n", token->access_token);
    junction_token_free(token);
    junction_close(j);
    return 0;
}
END
# The output of pkg-config has to be split into words.
# shellcheck disable=SC2046
check "an app in C is compiled and linked by pkg-config" \
    gcc -Wall -Werror -o "$work/app" "$work/app.c" $(pkg-config --cflags --libs junction)
check "an app in C gets the token" gets_the_token "$work/app"

packages=(python3-junctiond node-junctiond libjunctiond-swift-dev libjunction-dev libjunction0)
check "every link of the libraries' guides leads to a file" \
    is "$(dead_links /usr/share/doc/{python3-junctiond,node-junctiond,libjunctiond-swift-dev}/README.md)" ""
check "dpkg --verify reports no changed file" is "$(dpkg --verify "${packages[@]}")" ""

check "the packages can be purged" dpkg -P "${packages[@]}"
check "the folder of the Python library is gone" no test -e /usr/lib/python3/dist-packages/junctiond
check "the folder of the JavaScript library is gone" no test -e /usr/share/nodejs/junctiond
check "the folder of the Swift library is gone" no test -e /usr/share/junctiond/junctiond-clients
