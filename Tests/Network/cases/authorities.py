"""CA certificates of the machine and of the configuration. Both change while the daemon runs."""

from world import case
from world.stage import AUTH

NOT_TRUSTED = f"The certificate of {AUTH} is not trusted"


@case("authorities: the system's folder changes")
def _(stage):
    stage.start()
    other = stage.make_authority("other")
    stage.auth.certificate = other.certify(AUTH)

    stage.fails("one that is not there is not trusted", NOT_TRUSTED)
    stage.machine.trust(stage.authority, other)
    stage.works("one that was added counts from the next request on")
    stage.daemon.call("session.signOut")
    stage.machine.trust(stage.authority)
    stage.fails("one that was removed does not", NOT_TRUSTED)


@case("authorities: tls.caFile changes")
def _(stage):
    first, second = stage.make_authority("first"), stage.make_authority("second")
    file = stage.folder / "ours.pem"
    file.write_text(first.pem)
    stage.auth.certificate = first.certify(AUTH)
    stage.start(tls={"caFile": str(file)})

    stage.works("one that it names is trusted")
    stage.auth.certificate = second.certify(AUTH)
    stage.daemon.call("session.signOut")
    stage.fails("another is not", NOT_TRUSTED)
    file.write_text(first.pem + second.pem)
    stage.works("one that was added counts from the next request on")
    file.write_text("half a fi")
    stage.works("a file that cannot be read at the moment counts as it was")
    file.unlink()
    stage.works("one that is gone, too")
    replaced = stage.folder / "ours.new"
    replaced.write_text(first.pem)
    replaced.rename(file)
    stage.daemon.call("session.signOut")
    stage.fails("one that was removed does not count any more", NOT_TRUSTED)
    stage.auth.certificate = stage.authority.certify(AUTH)
    stage.works("the system's are trusted beside it all the time")


@case("authorities: a machine that has none")
def _(stage):
    stage.machine.trust()
    ours = stage.folder / "ours.pem"
    ours.write_text(stage.authority.pem)
    stage.start()

    stage.fails("it is said what is missing", "ca-certificates", "tls.caFile")
    stage.machine.trust(stage.authority)
    stage.works("when they have been installed it works")
    stage.machine.trust()
    stage.start(tls={"caFile": str(ours)})
    stage.works("tls.caFile alone is enough")
