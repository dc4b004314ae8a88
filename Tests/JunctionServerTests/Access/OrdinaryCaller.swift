import Glibc
import JunctionServer
import JunctionTesting
import Testing

/// A user who is neither root nor the user who runs the tests.
struct OrdinaryCaller: Sendable {
    var user: UInt32 = 12_345
    var group: UInt32 = 23_456
    var supplementaryGroups: [UInt32] = []

    /// Only root can connect as another user.
    static var isPossible: Bool { geteuid() == 0 }

    /// Connects as this user.
    ///
    /// On Linux, credentials belong to a thread. The C library changes them for all threads, but the system call
    /// changes only one. So a separate thread takes on the identity, connects, and ends.
    func connect(_ path: String) throws -> TestClient {
        try asThis { try TestClient(path) }
    }

    func connectHTTP(_ server: TestServer) throws -> HTTPTestClient {
        let path = try server.openSocket(speaking: .http)
        return try asThis { try HTTPTestClient(.path(path), to: server) }
    }

    func asThis<Client: Sendable>(_ connect: @escaping @Sendable () throws -> Client) throws -> Client {
        let result = Box<Client>()
        let thread = Thread { [self] in
            becomeThis()
            result.set { try connect() }
        }
        thread.join()
        return try result.get()
    }

    private func becomeThis() {
        let call = unsafeBitCast(dlsym(nil, "syscall"), to: SystemCall.self)
        _ = supplementaryGroups.withUnsafeBufferPointer { groups in
            call(SystemCallNumber.setgroups, groups.count, Int(bitPattern: groups.baseAddress), 0)
        }
        _ = call(SystemCallNumber.setresgid, Int(group), Int(group), Int(group))
        _ = call(SystemCallNumber.setresuid, Int(user), Int(user), Int(user))
    }

    private typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
}

private enum SystemCallNumber {
    #if arch(x86_64)
    static let (setgroups, setresuid, setresgid) = (116, 117, 119)
    #else
    // The system call numbers of newer architectures.
    static let (setgroups, setresuid, setresgid) = (159, 147, 149)
    #endif
}

extension Trait where Self == ConditionTrait {
    static var needsRoot: Self { .enabled(if: OrdinaryCaller.isPossible, "Only root can connect as another user") }
}
