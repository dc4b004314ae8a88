"""A story: what callers, the provider and the disk do to a daemon, in an order that a seed decides."""

from suite.connection import Refused

USERS = ("anna", "bert", "cora")
# Longer than the provider's grace. So a daemon that goes back by more than one rotation loses the login.
PAUSE = 60


class Story:
    """Plays acts. It adds an event for each reply of the daemon (`told`) and before each request that changes something
    (`begun`, with the families that may be signed in after it; `None` means that no user is)."""

    def __init__(self, random, provider, daemon, timeline, disk):
        self.random = random
        self.provider = provider
        self.daemon = daemon
        self.timeline = timeline
        self.disk = disk
        # The family that is signed in, or `None`, and whether the daemon said that the disk has it.
        self.family = None
        self.is_durable = True

    def play(self):
        """Plays every act at least once, and some of them again."""
        acts = [
            self.sign_in, self.sign_out, self.switch, self.approve, self.renew, self.renew, self.lose_answer, self.restart,
            self.run_out_of_space, self.kill_in_renewal, self.kill_in_renewal, self.kill_in_sign_in, self.kill_in_sign_out,
            self.kill_in_switch, self.kill_in_approval,
        ]
        self.random.shuffle(acts)
        self.timeline.add("begun", outcomes=[])
        self.daemon.start()
        self.tell(self.daemon.call("session.status"))
        for act in acts:
            act()
            self.provider.advance(PAUSE)
        self.daemon.stop()
        self.timeline.add("ended")

    # ---- events ----

    def begin(self, *outcomes):
        self.timeline.add("begun", outcomes=list(outcomes))
        self.possible = {self.family, *outcomes}

    def tell(self, snapshot):
        user = snapshot["userId"]
        if user is None:
            self.family = None
        else:
            families = self.provider.state.families
            self.family = next(name for name in self.possible if name and families[name].user == user)
        self.possible = {self.family}
        self.is_durable = snapshot["storage"]["durable"]
        self.timeline.add("told", family=self.family, durable=self.is_durable)

    def tell_when_settled(self):
        self.tell(self.daemon.until(is_settled))

    # ---- acts ----

    def sign_in(self):
        if self.family:
            self.sign_out()
        family = self.new_family()
        self.begin(family)
        self.tell(self.daemon.call("session.signIn", **credential(family)))

    def switch(self):
        """Switches to another user by `identify`, or signs the first one in."""
        family = self.new_family()
        user = self.provider.state.families[family].user
        self.begin(family)
        with self.daemon.connect() as connection:
            connection.credential = credential(family)
            self.tell(connection.call("session.identify", externalUserId=user)["snapshot"])

    def sign_out(self):
        self.be_signed_in()
        self.begin(None)
        if self.random.random() < 0.5:
            self.tell(self.daemon.call("session.signOut"))
        else:
            self.tell(self.daemon.call("session.identify", externalUserId=None)["snapshot"])

    def renew(self):
        self.be_signed_in()
        self.begin()
        self.tell(self.daemon.call("session.renew"))

    def lose_answer(self):
        """The provider rotates, and its answer is lost. The daemon sends the same refresh token again."""
        self.be_signed_in()
        self.begin()
        self.provider.interruption = (None, lambda: True)
        try:
            self.daemon.call("session.renew")
        except Refused:
            pass
        self.tell_when_settled()

    def approve(self):
        """A sign-in on another screen."""
        family = self.ask_for_codes()
        self.begin(family)
        self.provider.approve(family)
        self.tell(self.daemon.until(lambda snapshot: snapshot["userId"]))

    def restart(self):
        self.daemon.stop()
        self.daemon.start()
        self.tell_when_settled()

    def run_out_of_space(self):
        """Fills the disk. The reserve is enough for a renewal. Then the test takes that space, too, and the daemon renews or
        signs out without the disk."""
        self.be_signed_in()
        self.timeline.add("full")
        self.disk.fill()
        self.renew()
        if not self.is_durable:
            raise AssertionError("the reserve does not suffice for a renewal on a full disk")
        self.disk.fill()
        for _ in range(self.random.randint(1, 2)):
            self.renew()
        if self.random.random() < 0.3:
            self.sign_out()
        self.disk.free()
        self.timeline.add("free")
        # The daemon would write again by itself, but after several failures only within a minute.
        self.renew()
        self.tell_when_settled()

    def kill_in_renewal(self):
        self.be_signed_in()
        self.begin()
        self.kill_during("session.renew")

    def kill_in_sign_in(self):
        if self.family:
            self.sign_out()
        family = self.new_family()
        self.begin(family)
        self.kill_during("session.signIn", **credential(family))

    def kill_in_switch(self):
        self.be_signed_in()
        family = self.new_family()
        user = self.provider.state.families[family].user
        self.begin(family)
        self.kill_during("session.identify", credential(family), externalUserId=user)

    def kill_in_sign_out(self):
        self.be_signed_in()
        self.begin(None)
        with self.daemon.connect() as connection:
            connection.send("session.signOut")
            self.kill_soon(connection)
        self.begin_again()

    def kill_in_approval(self):
        """The codes are told, and the daemon dies before or after the approval."""
        family = self.ask_for_codes()
        self.daemon.kill()
        self.begin(family)
        self.provider.approve(family)
        self.daemon.start()
        self.tell(self.daemon.until(lambda snapshot: snapshot["userId"]))

    # ---- parts of acts ----

    def new_family(self, kind="code"):
        """Returns a family of another user than the present one."""
        present = self.family and self.provider.state.families[self.family].user
        return self.provider.new_family(self.random.choice([user for user in USERS if user != present]), kind)

    def be_signed_in(self):
        if not self.family:
            self.sign_in()

    def ask_for_codes(self):
        if self.family:
            self.sign_out()
        family = self.new_family("device")
        self.begin()
        self.tell(self.daemon.call("session.signIn", scheme="device"))
        self.timeline.add("codes", family=family)
        return family

    def kill_during(self, method, answer=None, /, **params):
        """Kills the daemon before the provider acts, after the provider has acted, or some moments later.

        `answer`: the credential, if the daemon asks for it.
        """
        moment = self.random.choice(("before", "after", "later"))
        with self.daemon.connect() as connection:
            connection.credential = answer
            if moment == "later":
                connection.send(method, **params)
                self.kill_soon(connection)
            else:
                kill = lambda: self.daemon.kill() or True
                self.provider.interruption = (kill, None) if moment == "before" else (None, kill)
                request = connection.send(method, **params)
                try:
                    connection.answer(request)
                except (Refused, ConnectionError):
                    pass
                self.daemon.process.wait()
        self.begin_again()

    def kill_soon(self, connection):
        """Kills the daemon after some turns of its event loop."""
        try:
            for _ in range(self.random.randint(0, 12)):
                connection.call("daemon.info")
        except ConnectionError:
            pass
        self.daemon.kill()

    def begin_again(self):
        self.provider.interruption = (None, None)
        self.daemon.start()
        self.tell_when_settled()


def credential(family):
    return {
        "scheme": "authorizationCode", "code": f"code-{family}", "redirectUri": "http://127.0.0.1:1/done",
        "codeVerifier": "v" * 43,
    }


def is_settled(snapshot):
    return snapshot["renewal"]["phase"] in ("none", "scheduled") and snapshot["storage"]["durable"] and (
        snapshot["state"] in ("notLoggedIn", "established")
    )
