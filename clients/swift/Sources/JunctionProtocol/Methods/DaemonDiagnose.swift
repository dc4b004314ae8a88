/// Looks the installation over.
package enum DaemonDiagnose: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Diagnosis

    package static let name: StaticString = "daemon.diagnose"
    package static let capability: Capability? = .manage
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Looks over configuration, socket, clock, sealing and the way to the provider"
}

/// What came of looking the installation over.
public struct Diagnosis: Hashable, Sendable {
    /// Everything that was looked at, in order.
    public var checks: [Check]

    /// Puts a diagnosis together.
    public init(checks: [Check]) {
        self.checks = checks
    }

    /// One thing that was looked at.
    public struct Check: Hashable, Sendable {
        /// What was looked at.
        public var name: String
        /// How it is.
        public var verdict: Verdict
        /// What was seen.
        public var detail: String
        /// What to do about it.
        public var remedy: String?

        /// Puts a check together.
        public init(name: String, verdict: Verdict, detail: String, remedy: String? = nil) {
            self.name = name
            self.verdict = verdict
            self.detail = detail
            self.remedy = remedy
        }
    }

    /// How something is, in one word.
    public struct Verdict: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// As it should be.
        public static let ok = Verdict(rawValue: "ok")
        /// Worth knowing.
        public static let note = Verdict(rawValue: "note")
        /// Something does not work, or is not safe.
        public static let problem = Verdict(rawValue: "problem")

        static let known: [Verdict] = [.ok, .note, .problem]
    }
}

extension Diagnosis: WireObject {
    package static let fields = Fields(
        at: "result",
        Diagnosis.init(checks:),
        Field("checks", \.checks, .list(Check.self), "everything that was looked at, in order")
    )
}

extension Diagnosis.Check: WireObject {
    package static let fields = Fields(
        at: "checks",
        Diagnosis.Check.init(name:verdict:detail:remedy:),
        Field("name", \.name, .text, "what was looked at"),
        Field("verdict", \.verdict, .word(Diagnosis.Verdict.known), "how it is"),
        Field("detail", \.detail, .string, "what was seen"),
        Field("remedy", \.remedy, ifPresent: .string, "what to do about it")
    )
}
