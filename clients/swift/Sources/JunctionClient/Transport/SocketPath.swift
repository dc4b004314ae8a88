package import Glibc
package import JunctionText

/// The path of the daemon's socket.
package struct SocketPath: Hashable, Sendable, CustomStringConvertible {
    /// The longest path, in bytes: the space in `sockaddr_un` without the terminating zero.
    package static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    package let text: String
    /// The name of the path in error messages.
    package let description: String
    /// The installation that this path belongs to; the plain one if the path does not show it.
    package let instance: InstanceName
    /// Why there is no path, if the caller named no valid one.
    package let fault: String?

    /// - Parameter name: the name in error messages; by default the path.
    package init(_ path: String, named name: String? = nil, of instance: InstanceName? = nil) {
        text = path
        description = name ?? path
        self.instance = instance ?? Self.systemInstance(ofSocket: path) ?? .plain
        fault = nil
    }

    private init(fault: String) {
        (text, description, instance, self.fault) = ("", "the socket", .plain, fault)
    }

    /// Returns the path by the first of: the given path, the given instance, the path in the environment, the instance
    /// in the environment, the plain installation.
    package static func resolve(
        _ explicit: String?,
        instance: String? = nil,
        environment: (String) -> String? = variable(named:),
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> SocketPath {
        func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }

        if let explicit {
            guard instance == nil else { return SocketPath(fault: "name the socket or the instance, not both") }
            return SocketPath(explicit)
        }
        if instance == nil, let path = variable("JUNCTIOND_SOCKET") { return SocketPath(path) }
        let name = instance ?? variable("JUNCTIOND_INSTANCE") ?? InstanceName.plain.description
        guard let name = InstanceName(name) else { return SocketPath(fault: InstanceName.rule) }
        if let directory = variable("XDG_RUNTIME_DIR") {
            let path = "\(directory)/junctiond/\(name).sock"
            if exists(path) { return SocketPath(path, of: name) }
        }
        return SocketPath("\(systemFolder)\(name)\(suffix)", of: name)
    }

    private static let systemFolder = "/run/junctiond/"
    private static let suffix = ".sock"

    /// Returns the installation whose system service has this socket.
    private static func systemInstance(ofSocket path: String) -> InstanceName? {
        guard path.hasPrefix(systemFolder), path.hasSuffix(suffix) else { return nil }
        return InstanceName(path.dropFirst(systemFolder.count).dropLast(suffix.count))
    }

    private static func variable(named name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Calls `body` with the path as a socket address.
    package func withAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(JunctionError) -> Result {
        if let fault { throw JunctionError(.invalidSocketPath, fault) }
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= Self.longest, !bytes.contains(0) else {
            throw JunctionError(
                .invalidSocketPath,
                "\(description) cannot be a socket: its path has to have 1 to \(Self.longest) bytes"
            )
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafeBytes(of: &address) { raw in
            body(raw.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(raw.count))
        }
    }
}
