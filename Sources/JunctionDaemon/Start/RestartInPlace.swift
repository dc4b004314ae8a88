import Glibc
import JunctionSystemd

/// Starts the program anew in this process, which keeps its process id, its sockets and its environment.
///
/// For the service manager the service keeps running, so no unit has to be restarted. A client that connects meanwhile
/// waits at the socket.
enum RestartInPlace {
    /// Replaces the program, and returns only if that fails. The event loop and all other threads must have ended their
    /// work.
    ///
    /// - Parameter passed: the descriptors that the service manager passed to this process.
    /// - Returns: why the program cannot be run.
    static func run(_ passed: PassedDescriptors, in environment: ProcessEnvironment) -> SystemFailure {
        let variables = passed.sockets.passedOn(in: environment.variables)
        var words = CommandLine.arguments.map { strdup($0) }
        var assignments = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in words + assignments { free(pointer) } }
        words.append(nil)
        assignments.append(nil)
        // A package upgrade may have replaced the program, so this runs the new one.
        if let path = environment.executable { execve(path, words, assignments) }
        // The unit's sandbox may forbid the replaced file. It always allows this process's own program.
        execve("/proc/self/exe", words, assignments)
        return SystemFailure("start the program anew", errno: errno)
    }
}
