import CLinux
import Glibc

// The daemon or the service manager starts the network helper, with the connection as its standard input. The helper
// has no options, no configuration and no state.

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
// Close descriptors that were inherited by mistake.
clinux_close_from(STDERR_FILENO + 1)
signal(SIGPIPE, SIG_IGN)
// If the first name server is dead, glibc would wait five seconds for it at each look-up.
setenv("RES_OPTIONS", "timeout:2 attempts:2", 0)

guard let daemon = DaemonConnection(STDIN_FILENO) else {
    StandardError.say("its standard input is no socket: junctiond starts it, see junctiond-courier(8)")
    exit(64)
}
TransferLoop(serving: daemon).run()
