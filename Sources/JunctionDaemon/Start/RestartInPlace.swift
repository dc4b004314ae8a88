import Glibc
import JunctionSystemd

/// Starts the program anew in this process: it keeps its number, its sockets and its environment.
///
/// For the service manager it is the same service all the time, so nothing has to be restarted, and a client that connects meanwhile
/// waits at the socket.
enum RestartInPlace {
    /// Does not return if it succeeds. The event loop and all other threads must have ended their work.
    ///
    /// - Parameter passed: what the service manager passed to this process.
    /// - Returns: why the program cannot be run.
    static func run(_ passed: PassedDescriptors, in environment: ProcessEnvironment) -> SystemFailure {
        let variables = passed.sockets.passedOn(in: environment.variables)
        var words = CommandLine.arguments.map { strdup($0) }
        var assignments = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in words + assignments { free(pointer) } }
        words.append(nil)
        assignments.append(nil)
        // A package may have replaced the program meanwhile: then this is the new one.
        if let path = environment.executable { execve(path, words, assignments) }
        // In the unit's sandbox a replaced file may not be executed. This process's own program may.
        execve("/proc/self/exe", words, assignments)
        return SystemFailure("start the program anew", errno: errno)
    }
}
