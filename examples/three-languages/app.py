#!/usr/bin/env python3
"""The app that signs in with the Sign-In Token on its standard input, as soon as no user is signed in.

It prints `token …`, like the others, signs out when the rest of its standard input ends, and prints `signed out`.
"""

import sys

from junctiond import Client, credentials


def main() -> None:
    with Client() as junction:
        junction.sign_in(credentials.SignInToken(sys.stdin.readline().strip()))
        print("token", junction.token().token.reveal(), flush=True)
        sys.stdin.read()
        junction.sign_out()
        junction.wait("signed-out")
        print("signed out", flush=True)


main()
