package import JunctionJSON

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

extension Diagnosis: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        guard let list = members["checks"], list.kind == .array else {
            throw members.mismatch("checks", "must be an array")
        }
        var checks: [Check] = []
        for check in list.elements { checks.append(try Check(reading: check)) }
        self.checks = checks
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("checks") { writer in
                for check in checks { check.write(to: &writer) }
            }
        }
    }

    package static let schema = Schema.object([
        Member("checks", .array(Check.schema), "everything that was looked at, in order")
    ])
}

extension Diagnosis.Check: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "checks")
        name = try members.text("name")
        verdict = try members.word("verdict")
        detail = try members.string("detail")
        remedy = try members.optionalString("remedy")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("verdict", verdict.rawValue)
            writer.member("detail", detail)
            writer.member("remedy", ifPresent: remedy)
        }
    }

    package static let schema = Schema.object([
        Member("name", .string, "what was looked at"),
        Member("verdict", .word(Diagnosis.Verdict.known.map(\.rawValue)), "how it is"),
        Member("detail", .string, "what was seen"),
        Member("remedy", .string, "what to do about it", optional: true),
    ])
}
