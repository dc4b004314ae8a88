"""The first boot: the key is made with the TPM, a user signs in, and is still signed in after a restart of the machine."""

from stage import KEY, STATE


def play(stage):
    stage.provider.reset(accessTokenLifetime=3600)
    machine = stage.machine()
    stage.note(f"the first boot took {machine.boot():.0f} s")
    machine.run("timeout 120 systemctl start junctiond.service", 150)
    stage.check("systemd sees the TPM", "+driver" in machine.try_run("systemd-creds has-tpm2")[1])
    made = machine.run("journalctl -q -b -u junctiond-key-init.service -o cat")
    stage.check("the key is made, bound to host+tpm2", "Made a new sealing key, bound to host+tpm2" in made, made)
    stage.check("only root can read the key", machine.run(f"stat -c '%a %U' {KEY}") == "600 root")
    stage.check("no user is signed in", stage.status(machine)["state"] == "notLoggedIn")

    user = stage.sign_in(machine)
    status = stage.status(machine)
    stage.check_signed_in(machine, user, "the user is signed in")
    stage.check("storage.sealedWith is host+tpm2", status["storage"]["sealedWith"] == "host+tpm2", status)
    stage.check("the session is durable", status["storage"]["durable"], status)
    stage.check("an app gets a token that the provider takes", stage.token(machine)[2] == "accessToken")
    code, doctor = machine.try_run("junctionctl doctor")
    stage.check("doctor finds no problem, and names the TPM", code == 0 and "host+tpm2" in doctor, doctor)
    stage.check("the API takes a request", machine.try_run("junctionctl api GET /v2/providers")[0] == 0)
    code, output = machine.try_run(f"grep -rqaE '(at|rt)_[0-9a-f]{{16}}' {STATE} /var/log/journal; (($? == 1))")
    stage.check("no token is on the disk in plain text", code == 0, output)
    token = stage.token(machine)[1]

    machine.power_off()
    stage.note(f"the second boot took {machine.boot():.0f} s")
    stage.check_signed_in(machine, user, "after a shutdown and a boot the user is signed in")
    stage.check("the token is the same", stage.token(machine)[1] == token)
    counters = stage.provider.request("/sandbox/counters")
    stage.check("there was one sign-in and no renewal", (counters["exchanges"], counters["refreshes"]) == (1, 0), counters)
