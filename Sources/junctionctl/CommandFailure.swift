import JunctionClient

/// Why a verb did not do what it was asked, and what the user can do.
struct CommandFailure: Error, Equatable {
    var what: String
    /// One word that a script may look for.
    var kind: String
    var remedy: String
    var status: ExitStatus

    init(_ what: String, kind: String, remedy: String, status: ExitStatus = .refused) {
        self.what = what
        self.kind = kind
        self.remedy = remedy
        self.status = status
    }

    init(_ error: JunctionError) {
        what = error.message
        kind = error.kind.rawValue
        remedy = error.remedy
        status = ExitStatus(error)
    }

    /// The one line on standard error.
    var line: String {
        "junctionctl: \(what.onOneLine) (\(kind.onOneLine)): \(remedy.onOneLine)"
    }
}

extension String {
    /// The same without line breaks and whatever else a terminal would act on.
    var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? " " : $0 }))
    }
}

extension Unicode.Scalar {
    /// Line breaks, escape sequences, and everything else below the space and around the delete key.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
