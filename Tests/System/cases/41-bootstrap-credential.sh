#!/usr/bin/env bash
# A device without a keyboard: a credential signs in at the first start, once.
. "${0%/*}/../lib.sh"
fresh

# The sandbox would accept the same Sign-In Token again, so only the daemon can prevent that.
settings '{"singleUseSignInTokens":false}'
anna=$(new_user anna)
mkdir -p /run/credstore
(umask 077 && sign_in_token "$anna" >/run/credstore/signInToken)

check "with a Sign-In Token in the credential store the daemon starts" systemctl start junctiond.service
check "the daemon signs in" junctionctl wait --for fresh --timeout 20
check "the user is the one of the token" field_is userId "$anna"
check "the session is durable" field_is durable true
systemctl restart junctiond.service
check "a restart keeps the session" field_is userId "$anna"
check "a restart exchanges nothing" counter_is exchanges 1

junctionctl sign-out >"$work/.sign-out"
mark
systemctl restart junctiond.service
check "after a sign-out and a restart the same token is not used again" \
    await_journal 5 'not used: it was used before' _SYSTEMD_UNIT=junctiond.service
check "no user is signed in" ends_with 3 junctionctl status
bert=$(new_user bert)
check "another user can sign in" junctionctl sign-in < <(sign_in_token "$bert")
check "the other user is signed in" field_is userId "$bert"
check "the provider got two exchanges" counter_is exchanges 2

junctionctl sign-out >"$work/.sign-out"
(umask 077 && sign_in_token "$anna" >/run/credstore/signInToken)
systemctl restart junctiond.service
check "another token for the same user is used" junctionctl wait --for fresh --timeout 20
check "the user of that token is signed in" field_is userId "$anna"

# A new credential does not sign a user out.
(umask 077 && sign_in_token "$bert" >/run/credstore/signInToken)
mark
systemctl restart junctiond.service
check "with a signed-in user a new token is not used" \
    await_journal 5 'not used: somebody is signed in' _SYSTEMD_UNIT=junctiond.service
check "the same user is still signed in" field_is userId "$anna"
rm /run/credstore/signInToken

# A link code, encrypted for this host, as the manual page shows it.
junctionctl sign-out >"$work/.sign-out"
mkdir -p /etc/credstore.encrypted
link_code "$bert" | systemd-creds encrypt --name=linkCode - /etc/credstore.encrypted/linkCode 2>"$work/.errors"
drop_in link-code <<'END'
[Service]
LoadCredentialEncrypted=linkCode
END
systemctl restart junctiond.service
check "a link code signs in too" junctionctl wait --for fresh --timeout 20
check "the user of the code is signed in" field_is userId "$bert"
rm /etc/credstore.encrypted/linkCode
no_drop_in link-code

junctionctl sign-out >"$work/.sign-out"
echo "no token" >/run/credstore/signInToken
mark
check "an invalid token does not prevent the start" systemctl restart junctiond.service
check "no user is signed in" ends_with 3 junctionctl status
check "the journal has the reason" \
    await_journal 10 'signInToken\|credential' _SYSTEMD_UNIT=junctiond.service PRIORITY=3 PRIORITY=4
