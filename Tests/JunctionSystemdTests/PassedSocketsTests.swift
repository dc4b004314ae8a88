import Glibc
import JunctionSystemd
import JunctionTesting
import Testing

@Suite struct PassedSocketsTests {
    @Test func `the socket of the requested name is found among others`() throws {
        let wanted = try TestListener(.unusedAbstract)
        let other = try TestListener(.unusedAbstract)
        let passed = PassedSockets([
            .init(descriptor: other.descriptor, name: "metrics"),
            .init(descriptor: wanted.descriptor, name: "rpc"),
        ])

        #expect(try passed.listener(.rpc) == wanted.descriptor)
    }

    @Test(arguments: ["unknown", "junctiond.socket"])
    func `a single socket needs no name`(name: String) throws {
        let socket = try TestListener(.unusedAbstract)

        let passed = PassedSockets([.init(descriptor: socket.descriptor, name: name)])

        #expect(try passed.listener(.rpc) == socket.descriptor)
    }

    @Test func `the HTTP socket is the one with its name`() throws {
        let (rpc, api) = (try TestListener(.unusedAbstract), try TestListener(.unusedAbstract))
        let both = PassedSockets([
            .init(descriptor: api.descriptor, name: "api"),
            .init(descriptor: rpc.descriptor, name: "rpc"),
        ])

        #expect(try both.listener(.rpc) == rpc.descriptor)
        #expect(try both.listener(.api) == api.descriptor)
        #expect(try PassedSockets([.init(descriptor: api.descriptor, name: "api")]).listener(.rpc) == nil)
        #expect(try PassedSockets([.init(descriptor: rpc.descriptor, name: "unknown")]).listener(.api) == nil)
    }

    @Test(arguments: ["stored", "connection", "metrics"])
    func `a single descriptor with another name is not used`(name: String) throws {
        let socket = try TestListener(.unusedAbstract)

        let passed = PassedSockets([.init(descriptor: socket.descriptor, name: name)])

        #expect(try passed.listener(.rpc) == nil)
    }

    @Test func `none of several unnamed sockets is used`() throws {
        let socket = try TestListener(.unusedAbstract)
        let unnamed = PassedSockets.Socket(descriptor: socket.descriptor, name: "unknown")

        #expect(try PassedSockets([unnamed, unnamed]).listener(.rpc) == nil)
    }

    @Test func `no passed sockets are no error`() throws {
        #expect(try PassedSockets([]).listener(.rpc) == nil)
    }

    @Test func `two sockets of the requested name are an error that says what to change`() throws {
        let socket = try TestListener(.unusedAbstract)
        let rpc = PassedSockets.Socket(descriptor: socket.descriptor, name: "rpc")

        let error = #expect(throws: PassedSocketError.self) { try PassedSockets([rpc, rpc]).listener(.rpc) }

        #expect(error?.description.contains("2 sockets named rpc") == true)
        #expect(error?.description.contains("ListenStream=") == true)
    }

    @Test func `a stream socket that does not listen is refused`() throws {
        let address = TestAddress.unusedAbstract
        let socket = TestSocket(adopting: address.makeSocket())
        try #require(address.bind(socket.descriptor))
        let passed = PassedSockets([.init(descriptor: socket.descriptor, name: "rpc")])

        #expect(throws: PassedSocketError.self) { try passed.listener(.rpc) }
    }

    @Test func `a descriptor that is not a Unix socket is refused`() throws {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let passed = PassedSockets([.init(descriptor: descriptor, name: "rpc")])

        let error = #expect(throws: PassedSocketError.self) { try passed.listener(.rpc) }

        #expect(error?.description.contains("(descriptor \(descriptor))") == true)
    }

    @Test func `passed sockets are taken once, set close-on-exec, and removed from the environment`() async {
        // Runs in a separate process, because the variables belong to the whole process.
        await #expect(processExitsWith: .success) {
            // A thread of the test library may have descriptor 3 for a moment, and close it during this.
            #expect((0..<20).contains { _ in PassedSocketsTests.takesOverWhatIsPassed() })
        }
    }

    /// Passes a descriptor to this process, as a service manager does, and takes it. Returns whether the result is
    /// correct.
    private static func takesOverWhatIsPassed() -> Bool {
        // Any descriptor 3 will do: only its flags are changed.
        if fcntl(3, F_GETFD) < 0 { dup2(0, 3) }
        _ = fcntl(3, F_SETFD, 0)
        setenv("LISTEN_PID", "\(getpid())", 1)
        setenv("LISTEN_FDS", "1", 1)
        setenv("LISTEN_FDNAMES", "rpc", 1)

        let passed = try? PassedSockets.take()

        let isClosedOnExec = fcntl(3, F_GETFD) == FD_CLOEXEC
        let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        let isForgotten = variables.allSatisfy { name in getenv(name) == nil }
        let again = try? PassedSockets.take()
        return passed == PassedSockets([.init(descriptor: 3, name: "rpc")]) && isClosedOnExec && isForgotten
            && again == PassedSockets([])
    }

    @Test func `sockets that were passed to another process are not taken`() async {
        await #expect(processExitsWith: .success) {
            setenv("LISTEN_PID", "\(getppid())", 1)
            setenv("LISTEN_FDS", "1", 1)

            let passed = try PassedSockets.take()

            #expect(passed == PassedSockets([]))
        }
    }

    @Test(arguments: ["-1", "many", "100000"])
    func `invalid variables are an error, not a crash`(count: String) async {
        await #expect(processExitsWith: .success) { [count] in
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", count, 1)

            let error = #expect(throws: PassedSocketError.self) { try PassedSockets.take() }

            #expect(error?.description.contains("LISTEN_FDS") == true)
        }
    }
}
