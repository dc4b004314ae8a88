import Glibc

/// Runs other programs of this machine.
enum Program {
    /// Returns the path of a program in `$PATH`, if it exists.
    static func path(of name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Starts a program with one argument and without a terminal, and does not wait for it.
    static func start(_ program: String, _ argument: String) -> Bool {
        // A process group of its own, so that ^C ends only this program.
        let started = spawn([program, argument], inOwnGroup: true) { actions in
            for standard in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
        return started.error == 0
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the path of the program, and its arguments.
    ///   - environment: the environment, which ends with a null pointer.
    ///   - signals: the signals that the program blocks, instead of those that this one blocks.
    ///   - prepare: adds what happens to the program's descriptors.
    /// - Returns: the process, and the error number, which is 0 after a success.
    static func spawn(
        _ arguments: [String],
        environment: UnsafePointer<UnsafeMutablePointer<CChar>?> = UnsafePointer(environ),
        inOwnGroup: Bool = false,
        blocking signals: sigset_t? = nil,
        _ prepare: (inout posix_spawn_file_actions_t) -> Void
    ) -> (process: pid_t, error: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        prepare(&actions)
        // This program ignores SIGPIPE, and the other one must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var flags = POSIX_SPAWN_SETSIGDEF
        if inOwnGroup { flags |= POSIX_SPAWN_SETPGROUP }
        if var signals {
            posix_spawnattr_setsigmask(&attributes, &signals)
            flags |= POSIX_SPAWN_SETSIGMASK
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var process = pid_t()
        let error = withCStrings(arguments) {
            posix_spawn(&process, arguments[0], &actions, &attributes, $0, environment)
        }
        return (process, error)
    }
}
