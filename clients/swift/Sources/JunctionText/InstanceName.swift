#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The name of one of several installations on one machine, such as `work` (docs/instances.md).
package struct InstanceName: Hashable, Sendable, CustomStringConvertible {
    /// In bytes.
    package static let longest = 64
    /// Says what a name may be, for error messages.
    package static let rule =
        "the name of an instance has 1 to \(longest) letters (a-z, A-Z), digits, '-', '_' and '.', and does not begin with '.'"
    /// The name of the installation that has no `@NAME` in its units.
    package static let plain = InstanceName(checked: "junctiond")

    package let description: String

    /// Returns nil unless the name is allowed. An allowed name is safe as a part of a path and of a unit's name.
    package init?(_ name: some StringProtocol) {
        let bytes = name.utf8
        guard (1...Self.longest).contains(bytes.count), bytes.first != UInt8(ascii: "."),
            bytes.allSatisfy(Self.isAllowed)
        else { return nil }
        self.init(checked: String(name))
    }

    private init(checked name: String) { description = name }

    /// The part after `junctiond` in the names of this installation's units and folders: `@work`, or nothing.
    package var suffix: String { self == .plain ? "" : "@\(description)" }

    /// The name of the daemon's unit, for `systemctl`: `junctiond`, or `junctiond@work`.
    package var unit: String { "junctiond\(suffix)" }

    /// The command that checks the configuration.
    package var check: String {
        (self == .plain ? "" : "JUNCTIOND_INSTANCE=\(description) ") + "junctiond --check-config"
    }

    /// The remedy for a wrong configuration.
    package var correction: String { "correct it ('\(check)'), then: systemctl reload \(unit)" }

    /// The installation that `$JUNCTIOND_INSTANCE` names.
    package static var ofThisProcess: InstanceName {
        getenv("JUNCTIOND_INSTANCE").flatMap { InstanceName(String(cString: $0)) } ?? .plain
    }

    /// The name of the folder beside the configuration file. The files of one installation give no rights in another one.
    package var configurationFolder: String { self == .plain ? "conf.d" : "\(description).conf.d" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-_.".utf8.contains(byte)
    }
}
