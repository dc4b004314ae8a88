/// Checks the installation.
package enum DaemonDiagnose: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Diagnosis

    package static let name: StaticString = "daemon.diagnose"
    package static let capability: Capability? = .manage
    package static let onlyAnswers = true
    package static let summary = "Looks over configuration, socket, clock, sealing and the way to the provider"
}

/// The result of checking the installation.
public struct Diagnosis: Hashable, Sendable {
    /// All checks, in order.
    public var checks: [Check]

    /// Makes a diagnosis.
    public init(checks: [Check]) {
        self.checks = checks
    }

    /// One check.
    public struct Check: Hashable, Sendable {
        /// The name of the check.
        public var name: String
        /// The verdict.
        public var verdict: Verdict
        /// The finding.
        public var detail: String
        /// The remedy.
        public var remedy: String?

        /// Makes a check.
        public init(name: String, verdict: Verdict, detail: String, remedy: String? = nil) {
            self.name = name
            self.verdict = verdict
            self.detail = detail
            self.remedy = remedy
        }
    }

    /// The verdict of a check.
    public struct Verdict: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a verdict from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The check found no problem.
        public static let ok = Verdict(rawValue: "ok")
        /// The finding may be useful.
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
