#!/usr/bin/env bash
# The packages of the libraries: an app in Python and one in C get a token, with no other package installed.
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
check "dpkg --verify reports no changed file" \
    is "$(dpkg --verify python3-junctiond libjunction0 libjunction-dev)" ""

check "the packages can be purged" dpkg -P python3-junctiond libjunction-dev libjunction0
check "the folder of the Python library is gone" no test -e /usr/lib/python3/dist-packages/junctiond
