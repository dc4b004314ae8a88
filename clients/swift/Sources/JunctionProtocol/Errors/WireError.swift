package import JunctionJSON

/// An error on the wire.
public struct WireError: Error, Hashable, Sendable {
    /// The number. `knownCode` is its `ErrorCode`, if this library knows it.
    public var code: Int
    /// What happened, to which object, and what to do. Never a secret.
    public var message: String
    /// The word by which programs distinguish the errors: `notSignedIn`, `busy`, …
    public var kind: String?
    /// How many seconds to wait before the next attempt, if that helps.
    public var retryAfter: Double?
    /// For `alreadySignedIn`: the signed-in user.
    public var userId: String?
    /// For `sessionTerminated`: the reason.
    public var termination: Termination?
    /// For `permissionDenied`: the capability that the caller lacks.
    public var capability: String?
    /// For a parameter that was too large: the largest possible value.
    public var maximum: Double?
    /// What a user at a terminal can do, if that depends on the cause and not only on the kind.
    public var remedy: String?

    /// Makes an error with this code and its kind.
    public init(
        _ code: ErrorCode,
        _ message: String,
        retryAfter: Double? = nil,
        userId: String? = nil,
        termination: Termination? = nil,
        capability: String? = nil,
        maximum: Double? = nil,
        remedy: String? = nil
    ) {
        self.code = code.rawValue
        self.message = message
        kind = code.kind
        self.retryAfter = retryAfter
        self.userId = userId
        self.termination = termination
        self.capability = capability
        self.maximum = maximum
        self.remedy = remedy
    }

    /// The code, if this library knows it.
    public var knownCode: ErrorCode? { ErrorCode(rawValue: code) }
}

// The errors of the protocol itself.
extension WireError {
    package static func unparsable(_ fault: JSONFault) -> WireError {
        WireError(.parseError, "Parse error: \(fault)")
    }

    /// The error for JSON that is not a valid message. `rule` is the violated rule.
    package static func notAMessage(_ rule: String) -> WireError {
        WireError(.invalidRequest, "Invalid Request: \(rule)")
    }

    /// The error for a line that was dropped because of its length.
    ///
    /// - Parameter limit: the longest line of this caller, in bytes.
    package static func lineTooLong(_ limit: Int) -> WireError {
        let who = limit < LineSplitter.longestLine ? " of a caller to whom no capability is granted" : ""
        return notAMessage("a line\(who) is at most \(limit) bytes long; the connection is closed")
    }

    /// The error for a method that does not exist, or that this side does not implement.
    package static let methodNotFound = WireError(
        .methodNotFound,
        "Method not found: rpc.discover lists those that there are"
    )

    package static func invalidParams(_ mismatch: WireMismatch) -> WireError {
        WireError(.invalidParams, "Invalid params: \(mismatch)")
    }

    /// The error for a caller without the capability that the method needs.
    ///
    /// - Parameter remedy: how this caller can get it.
    package static func denied(_ capability: Capability, remedy: String? = nil) -> WireError {
        WireError(
            .permissionDenied,
            "This needs the capability '\(capability.rawValue)': an [[access]] entry has to allow it",
            capability: capability.rawValue,
            remedy: remedy
        )
    }

    /// The error for an answer that has neither a result nor an error.
    package static let unreadable = WireError(.internalError, "The other side's answer cannot be read")
}

extension WireError: WireValue {
    /// Reads the error of an answer. If it is malformed, the result is `unreadable`: the answer was an error in any
    /// case.
    package init(reading value: JSONValue) {
        guard let code = value["code"]?.integer, let message = value["message"]?.string else {
            self = .unreadable
            return
        }
        let data = value["data"]
        self.code = Int(code)
        self.message = message
        kind = data?["kind"]?.string
        retryAfter = data?["retryAfter"]?.double
        userId = data?["userId"]?.string
        termination = data?["termination"].flatMap { try? Termination(reading: $0) }
        capability = data?["capability"]?.string
        maximum = data?["maximum"]?.double
        remedy = data?["remedy"]?.string
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", code)
            writer.member("message", message)
            guard hasData else { return }
            writer.object("data") { writer in
                writer.member("kind", ifPresent: kind)
                writer.member("retryAfter", ifPresent: retryAfter)
                writer.member("userId", ifPresent: userId)
                if let termination {
                    writer.key("termination")
                    termination.write(to: &writer)
                }
                writer.member("capability", ifPresent: capability)
                writer.member("maximum", ifPresent: maximum)
                writer.member("remedy", ifPresent: remedy)
            }
        }
    }

    private var hasData: Bool {
        kind != nil || retryAfter != nil || userId != nil || termination != nil || capability != nil
            || maximum != nil || remedy != nil
    }

    package static let schema = Schema.reference("Error")
    /// The members of `data`.
    static let dataSchema = Schema.object([
        Member("kind", .word(ErrorCode.allCases.compactMap(\.kind)), "the word for the error", optional: true),
        Member("retryAfter", .seconds, "how long to wait before asking again", optional: true),
        Member("userId", .string, "alreadySignedIn: who is", optional: true),
        Member("termination", Termination.schema, "sessionTerminated: why", optional: true),
        Member(
            "capability",
            .word(Capability.allCases.map(\.rawValue)),
            "permissionDenied: what it takes",
            optional: true
        ),
        Member("maximum", .seconds, "how much could be asked for", optional: true),
        Member("remedy", .string, "what somebody at a terminal can do, where the cause is known", optional: true),
    ])
}
