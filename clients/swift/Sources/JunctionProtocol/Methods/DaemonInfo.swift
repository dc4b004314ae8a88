/// Describes the daemon.
package enum DaemonInfo: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = DaemonDescription

    package static let name: StaticString = "daemon.info"
    package static let capability: Capability? = .status
    package static let onlyAnswers = true
    package static let summary = "Says which daemon this is, and since when it runs"
}

/// The daemon that answers on the socket.
public struct DaemonDescription: Hashable, Sendable {
    /// The protocol version of this library.
    public static let protocolVersion = 1

    /// The name: `junctiond`.
    public var name: String
    /// The version of the program.
    public var version: String
    /// The version of the protocol. It increases when the meaning of a documented element changes.
    public var protocolVersion: Int
    /// The provider: `junction`, `social`, `sinch` or `oauth`.
    public var provider: String
    /// The process id.
    public var pid: Int
    /// When it started.
    public var startedAt: Timestamp
    /// The seconds since the start, including suspend.
    public var uptime: Double
    /// The keys of the changed settings that take effect at the next restart, such as `junction.authUrl`.
    public var pendingRestart: [String]

    /// Makes a description.
    public init(
        name: String = "junctiond",
        version: String,
        protocolVersion: Int = DaemonDescription.protocolVersion,
        provider: String,
        pid: Int,
        startedAt: Timestamp,
        uptime: Double,
        pendingRestart: [String] = []
    ) {
        self.name = name
        self.version = version
        self.protocolVersion = protocolVersion
        self.provider = provider
        self.pid = pid
        self.startedAt = startedAt
        self.uptime = uptime
        self.pendingRestart = pendingRestart
    }
}

extension DaemonDescription: WireObject {
    package static let fields = Fields(
        at: "result",
        DaemonDescription.init(name:version:protocolVersion:provider:pid:startedAt:uptime:pendingRestart:),
        Field("name", \.name, .text, "junctiond"),
        Field("version", \.version, .text, "the version of the program"),
        Field("protocolVersion", \.protocolVersion, .count, "the version of the protocol: 1"),
        Field("provider", \.provider, .text, "junction, social, sinch or oauth"),
        Field("pid", \.pid, .count, "the process"),
        Field("startedAt", \.startedAt, .timestamp, "when it started"),
        Field("uptime", \.uptime, .seconds, "for how long it has run, suspend included"),
        Field(
            "pendingRestart",
            \.pendingRestart,
            .texts,
            else: [],
            "the settings that were changed and wait for a restart, by their key"
        )
    )
}
