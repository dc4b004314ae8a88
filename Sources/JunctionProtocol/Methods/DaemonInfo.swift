package import JunctionJSON

/// Says what is answering.
package enum DaemonInfo: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = DaemonDescription

    package static let name: StaticString = "daemon.info"
    package static let capability: Capability? = .status
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Says which daemon this is, and since when it runs"
}

/// What is answering on the socket.
public struct DaemonDescription: Hashable, Sendable {
    /// The protocol that this library speaks.
    public static let protocolVersion = 1

    /// `junctiond`.
    public var name: String
    /// The version of the program.
    public var version: String
    /// The version of the protocol; it rises when what is documented changes its meaning.
    public var protocolVersion: Int
    /// `junction`, `social` or `sinch`.
    public var provider: String
    /// The process.
    public var pid: Int
    /// When it started.
    public var startedAt: Timestamp
    /// For how many seconds it has run, suspend included.
    public var uptime: Double

    /// Puts a description together.
    public init(
        name: String = "junctiond",
        version: String,
        protocolVersion: Int = DaemonDescription.protocolVersion,
        provider: String,
        pid: Int,
        startedAt: Timestamp,
        uptime: Double
    ) {
        self.name = name
        self.version = version
        self.protocolVersion = protocolVersion
        self.provider = provider
        self.pid = pid
        self.startedAt = startedAt
        self.uptime = uptime
    }
}

extension DaemonDescription: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        name = try members.text("name")
        version = try members.text("version")
        protocolVersion = Int(try members.integer("protocolVersion"))
        provider = try members.text("provider")
        pid = Int(try members.integer("pid"))
        startedAt = try members.timestamp("startedAt")
        uptime = try members.seconds("uptime")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("version", version)
            writer.member("protocolVersion", protocolVersion)
            writer.member("provider", provider)
            writer.member("pid", pid)
            writer.member("startedAt", startedAt)
            writer.member("uptime", uptime)
        }
    }

    package static let schema = Schema.object([
        Member("name", .string, "junctiond"),
        Member("version", .string, "the version of the program"),
        Member("protocolVersion", .unsigned, "the version of the protocol: 1"),
        Member("provider", .string, "junction, social or sinch"),
        Member("pid", .unsigned, "the process"),
        Member("startedAt", .timestamp, "when it started"),
        Member("uptime", .seconds, "for how long it has run, suspend included"),
    ])
}
