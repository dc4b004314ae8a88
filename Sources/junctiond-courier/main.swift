import CLinux
import Glibc

// A courier is started by its daemon or by the service manager, with the connection as its standard input. It has no
// options, no configuration and no state.

switch CommandLine.arguments.dropFirst().first {
case nil: break
case "--version":
    print("junctiond-courier \(version)")
    exit(0)
case "--help", "-h":
    print(help)
    exit(0)
default:
    StandardError.say("it takes no arguments: junctiond starts it, see junctiond-courier(8)")
    exit(64)
}

clinux_occupy_standard_descriptors()
clinux_forbid_dumps()
// Whatever else was inherited by mistake.
clinux_close_from(STDERR_FILENO + 1)
signal(SIGPIPE, SIG_IGN)
// The first name server may be dead: glibc would wait five seconds for it each time.
setenv("RES_OPTIONS", "timeout:2 attempts:2", 0)

guard let daemon = DaemonConnection(STDIN_FILENO) else {
    StandardError.say("its standard input is no socket: junctiond starts it, see junctiond-courier(8)")
    exit(64)
}
Courier(serving: daemon).run()
