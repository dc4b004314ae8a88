#!/usr/bin/env bash
# Several installations on one machine: eight instances of four providers beside the plain installation, each with its own signed-in
# user. A restart, a crash or a locked session of one concerns no other one.
. "${0%/*}/../lib.sh"
fresh

instances=(junction-1 junction-2 social-1 social-2 sinch-1 sinch-2 oauth-1 oauth-2)
unset JUNCTIOND_SOCKET

of() { # INSTANCE VERB...
    junctionctl --instance "$@"
}
of_member() { { of "$1" --json status || (($? == 3)); } | member "$2"; } # INSTANCE NAME
pid_of() { prop MainPID "junctiond@$1.service"; }
state_of() { echo "/var/lib/private/junctiond@$1"; }
each() { # FUNCTION: for every instance
    local instance
    for instance in "${instances[@]}"; do "$1" "$instance" || { echo "of the instance $instance"; return 1; }; done
}

end_instances() {
    # The pattern names only loaded units.
    systemctl stop 'junctiond@*.socket' 'junctiond@*.service' 'junction-online@*' 'junctiond-courier@*.socket'
    systemctl disable --quiet 'junctiond@'{junction-1,social-1}'.socket' "junctiond-api@junction-1.socket"
    rm -rf /etc/junctiond/{junction,social,sinch,oauth}-* /var/lib/{,private/}junctiond@* /var/lib/junctiond-key@* \
        /etc/credstore.encrypted/*@* /run/credstore*/*@*
}
trap 'end_instances || :' EXIT

# ---- the configurations and the secrets ----

configure() { # INSTANCE <CONFIGURATION
    cat >"/etc/junctiond/$1.toml"
}
for instance in junction-1 junction-2; do
    configure "$instance" <<<$'provider = "junction"\n[junction]\nauthUrl = "'"$cloud"$'"\napiUrl = "'"$cloud"'"'
done
mkdir -p /etc/credstore.encrypted
for instance in social-1 social-2; do
    configure "$instance" <<<$'provider = "social"\n[social]\napiUrl = "'"$cloud"'"'
    # A credential of one instance only.
    echo "sandbox-api-key-$instance" | secret |
        systemd-creds encrypt --name=social.apiKey - "/etc/credstore.encrypted/social.apiKey@$instance" 2>"$work/.errors"
done
for instance in sinch-1 sinch-2; do
    configure "$instance" <<END
provider = "sinch"
[sinch]
applicationKey = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
registrationUrl = "$cloud/v1/instance"
END
done
for instance in oauth-1 oauth-2; do
    configure "$instance" <<END
provider = "oauth"
[oauth]
issuer = "$cloud/oauth"
clientId = "sandbox-public"
scopes = ["openid", "offline_access"]
apiUrl = "$cloud/oauth-api/v1/"
END
done

# ---- the sign-ins ----

starts_by_its_socket() { systemctl start "junctiond@$1.socket" && ends_with 3 of "$1" status; }

signs_in() { # INSTANCE: the name of the user is that of the instance
    local answer
    case $1 in
        junction-*) sign_in_token "$(new_user "$1")" | of "$1" sign-in ;;
        social-*) of "$1" sign-in --user-id "$1" ;;
        sinch-*)
            curl -fsS "$cloud/sandbox/sinch/users" -d "{\"name\":\"$1\"}" -o "$work/.user"
            curl -fsS -X POST "$cloud/sandbox/sinch/users/$1/registration-token" | member registrationToken |
                secret >"$work/registration"
            of "$1" sign-in --user-id "$1" --registration-token-file "$work/registration"
            ;;
        oauth-*)
            answer=$(of "$1" --json sign-in --device --no-wait)
            curl -fsS "$cloud/sandbox/oauth/devices/$(member userCode <<<"$answer")/approve" -d "{\"user\":\"$1\"}" -o "$work/.user"
            of "$1" wait --for signed-in --timeout 30
            ;;
    esac >"$work/.sign-in"
}

declare -A users tokens pids changes
remember() { # INSTANCE
    users[$1]=$(of_member "$1" userId)
    tokens[$1]=$(of "$1" token | secret)
    pids[$1]=$(pid_of "$1")
    changes[$1]=$(of_member "$1" revision)
}
is_as_remembered() { # INSTANCE: the same process, user and token, and no change of the session
    is "$(pid_of "$1") $(of_member "$1" revision) $(of_member "$1" userId)" "${pids[$1]} ${changes[$1]} ${users[$1]}" &&
        is "$(of "$1" token)" "${tokens[$1]}"
}
others_are_as_remembered() { # INSTANCE
    local instance
    for instance in "${instances[@]}"; do
        [[ $instance == "$1" ]] || is_as_remembered "$instance" || { echo "of the instance $instance"; return 1; }
    done
}
all_differ() { is "$(printf '%s\n' "$@" | sort | uniq -d)" ""; }

curl -fsS "$cloud/sandbox/oauth/settings" -d '{"interval":1}' -o "$work/.settings"
sign_in plain
plain=$user
plain_pid=$(main_pid)
plain_token=$(token)
check "each of eight instances starts by its socket, with no user" each starts_by_its_socket
check "a user signs in to each instance, at four providers" each signs_in
each remember
check "each instance has another user" all_differ "${users[@]}" "$plain"
check "each instance has another token" all_differ "${tokens[@]}" "$plain_token"
check "the instances have their four providers" \
    is "$(for instance in "${instances[@]}"; do of_member "$instance" provider; done | sort | uniq -c | xargs)" \
    "2 junction 2 oauth 2 sinch 2 social"

uid_of() { stat -c %u "/proc/$(pid_of "$1")"; }
uids=$(for instance in "${instances[@]}"; do uid_of "$instance"; done; stat -c %u "/proc/$plain_pid")
# shellcheck disable=SC2086
check "each daemon runs as another Unix user" all_differ $uids
owns_its_state() { is "$(find "$(state_of "$1")" ! -uid "$(uid_of "$1")" -print)" "" && test -s "$(state_of "$1")/session.sealed"; }
check "the state of each instance belongs to its own user" each owns_its_state
check "each instance has another key" is "$(sha256sum /var/lib/junctiond-key@*/junctiond.key | cut -d ' ' -f 1 | sort -u | wc -l)" 8
has_group() { is "$(stat -c '%a %U:%G' "/run/junctiond/$1.sock")" "660 root:junction"; }
check "only the group junction may use each socket" each has_group
check "the environment selects the instance, too" \
    is "$(JUNCTIOND_INSTANCE=oauth-2 junctionctl --json status | member userId)" "${users[oauth-2]}"
check "without a name the plain installation answers" is "$(junctionctl --json status | member userId)" "$plain"
check "its name is junctiond" is "$(of junctiond --json status | member userId)" "$plain"
check "a name that is a path is a usage error" ends_with 64 of ../junctiond/oauth-1 status
check "a name and a socket together are a usage error" ends_with 64 of oauth-1 --socket /run/junctiond/junctiond.sock status

# ---- the parts of one instance ----

makes_a_request() { of "$1" renew >"$work/.renew" 2>&1; }
for instance in junction-1 oauth-1; do
    check "$instance has a network helper" makes_a_request "$instance"
done
check "the metrics of an instance have its name" \
    has "$(of social-1 metrics)" 'junctiond_session_revision{installation="social-1"}'
check "the metrics of the plain installation have no name" no grep -q installation= <<<"$(junctionctl metrics)"
doctor_is_content() { of junction-1 doctor >"$work/doctor" || { cat "$work/doctor"; return 1; }; }
systemctl enable --quiet junctiond@junction-1.socket junctiond@social-1.socket
check "doctor finds no problem in an instance" doctor_is_content
check "doctor names the configuration of the instance" grep -q '/etc/junctiond/junction-1.toml' "$work/doctor"
check "doctor names the unit of the instance" grep -q 'junctiond@junction-1.service' "$work/doctor"
cat >/etc/junctiond/junction-1.conf.d.new <<<$'[[access]]\nallow = ["status"]\nuser = "app"'
mkdir /etc/junctiond/junction-1.conf.d
mv /etc/junctiond/junction-1.conf.d.new /etc/junctiond/junction-1.conf.d/50-app.toml
check "an instance reads the files of its own folder" systemctl reload junctiond@junction-1.service
check "an entry there gives a right in this instance" ends_with 0 as app junctionctl --instance junction-1 status
check "the same user has no other right there" ends_with 77 as app junctionctl --instance junction-1 token
check "the entry is not in force in another instance" as app junctionctl --instance junction-2 token
old=$(pid_of junction-1)
check "an instance gets an HTTP socket" systemctl enable --quiet --now junctiond-api@junction-1.socket
check "the instance is restarted for that" await 10 no is "$(pid_of junction-1)" "$old"
answers() { curl -fsS --unix-socket /run/junctiond/api@junction-1.sock -H 'Junction-Local: true' http://junction/.junction/status -o "$work/.http"; }
check "the HTTP socket of the instance answers" await 10 answers
check "the target of an instance is reached" timeout 30 systemctl start junction-online@junction-1.target
check "the target of the plain installation is not" prop_is ActiveState inactive junction-online.target
for name in junctiond api credentials courier; do
    check "an instance cannot have the name $name" no systemctl start "junctiond@$name.socket"
done
check "the plain socket still answers" is "$(junctionctl --json status | member userId)" "$plain"
each remember

# ---- no instance notices another one ----

mark
check "one instance restarts" systemctl restart junctiond@social-1.service
check "it has its user" is "$(of_member social-1 userId)" "${users[social-1]}"
check "the others did not notice the restart" others_are_as_remembered social-1
remember social-1

kill -KILL "${pids[sinch-1]}"
check "one instance is killed, and has its user afterwards" is "$(of_member sinch-1 userId)" "${users[sinch-1]}"
check "the others did not notice the crash" others_are_as_remembered sinch-1
remember sinch-1

# The end of a daemon does not end the network helpers of others, even of those that it cannot wait for.
makes_a_request oauth-2
each remember
helper=
for unit in $(couriers); do
    [[ $unit != *"-${pids[oauth-2]}-"* && $unit != *"-${pids[oauth-2]}_"* ]] || helper=$(prop MainPID "$unit")
done
check "oauth-2 has a network helper" test -n "$helper"
systemctl restart junctiond@oauth-1.service junctiond.service
check "the network helper of oauth-2 stays when other daemons end" test -d "/proc/$helper"
no_stop() { is "$(systemctl list-jobs --no-legend 'junctiond-courier@*' | wc -l)" 0; }
check "no network helper is to be stopped" await 10 no_stop
check "oauth-2 did not notice" is_as_remembered oauth-2
remember oauth-1
plain_pid=$(main_pid)

# The key of one instance is lost.
key_of_one=/var/lib/junctiond-key@oauth-1/junctiond.key
mv "$key_of_one" "$work/key"
echo "not a key" >"$key_of_one"
systemctl restart junctiond@oauth-1.service
check "one instance is locked" is "$(of_member oauth-1 status)" locked
check "its remedy names its unit" grep -q 'junctiond-key-init@oauth-1' <(of oauth-1 doctor || :)
check "the journal names its key" grep -q "$key_of_one" <(logged -u junctiond-key-init@oauth-1.service -o cat)
check "the others did not notice the lock" others_are_as_remembered oauth-1
check "the plain installation did not notice" is "$(main_pid) $(junctionctl --json status | member userId)" "$plain_pid $plain"
mv -f "$work/key" "$key_of_one"
systemctl restart junctiond@oauth-1.service
check "with its key the session is back" is "$(of_member oauth-1 userId)" "${users[oauth-1]}"
remember oauth-1

old=$(pid_of social-2)
of social-2 sign-out >"$work/.sign-out"
check "one instance signs out" ends_with 3 of social-2 status
check "the others did not notice the sign-out" others_are_as_remembered social-2

# The daemon of a misspelt name does not start with defaults.
systemctl start junctiond@misspelt.socket
check "an instance without a configuration does not start" no systemctl start junctiond@misspelt.service
check "doctor says what is missing" has "$(of misspelt doctor 2>&1 || :)" /etc/junctiond/misspelt.toml
systemctl stop junctiond@misspelt.socket junctiond@misspelt.service
systemctl reset-failed junctiond@misspelt.service 2>"$work/.errors" || :

# ---- memory ----

# The root of this container is a tmpfs, where smaps calls each page of a program dirty. On a disk, only anonymous memory is.
private_dirty() { sed -n 's/^Anonymous: *\([0-9]*\) kB$/\1/p' "/proc/$1/smaps_rollup"; } # PID
is_measured() { [[ $1 =~ ^[1-9][0-9]*$ ]]; }
declare -A worked
for instance in "${instances[@]}"; do worked[$instance]=$(private_dirty "$(pid_of "$instance")"); done
systemctl restart "${instances[@]/#/junctiond@}"
for instance in "${instances[@]}"; do
    # The one that has signed out has no token.
    of "$instance" token >"$work/.token" 2>&1 || [[ $instance == social-2 ]]
    dirty=$(private_dirty "$(pid_of "$instance")")
    check "$instance: $dirty kB of private dirty memory after a restart, ${worked[$instance]} kB after this case (aim: 1600)" \
        is_measured "$dirty"
done
dirty=$(private_dirty "$(main_pid)")
check "the plain daemon, for comparison: $dirty kB of private dirty memory" is_measured "$dirty"

# ---- the end of an instance, by the commands of the guide ----

signs_in social-2
each remember
removal() {
    sed -n '/^## Remove an instance$/,/^An upgrade/p' /usr/share/doc/junctiond/docs/instances.md |
        sed -n '/^```sh$/,/^```$/p' | sed -e '/^```/d' -e 's/work/junction-1/g'
}
left_of() { # INSTANCE
    find /etc/{junctiond,systemd/system,credstore,credstore.encrypted} /run/{junctiond,credstore.encrypted} /var/lib/{,private/} -maxdepth 2 -name "*$1*"
}
removal >"$work/removal"
check "the commands of the guide remove an instance" bash -euo pipefail "$work/removal"
check "nothing of it is left" is "$(left_of junction-1 2>"$work/.errors")" ""
check "its socket is gone" prop_is ActiveState inactive junctiond@junction-1.socket
check "the others did not notice the removal" others_are_as_remembered junction-1
