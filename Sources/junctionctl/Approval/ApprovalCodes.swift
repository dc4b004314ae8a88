import JunctionClient
import JunctionProtocol

/// Prints the codes of a sign-in that a person has to approve on another screen.
struct ApprovalCodes: Sendable {
    let asJson: Bool
    let asPicture: Bool

    /// Prints them, as text always.
    func show(_ state: Connection.Answered<Snapshot>) throws {
        guard let authorization = state.value.authorization else { return }
        if asJson { return try StandardOutput.line(state.json) }
        guard let instructions = ApprovalText(authorization).instructions else { return }
        try StandardOutput.line(instructions)
        if asPicture, let picture = QRPicture(of: authorization) { show(picture) }
    }

    /// Without a picture there is still the text.
    private func show(_ picture: QRPicture) {
        do {
            try picture.drawn().withUnsafeBytes(StandardOutput.writeUnchanged)
            try StandardOutput.line("")
        } catch {
            StandardError.note("there is no QR picture: 'qrencode' could not draw it")
        }
    }

    /// Prints them as soon as there are some, while this thread waits for something else.
    func showWhenThere(at path: SocketPath) throws {
        try startThread {
            do {
                var feed = SnapshotFeed(from: path, patience: .always)
                var state = try feed.next()
                while state.value.authorization == nil { state = try feed.next() }
                try show(state)
            } catch {
                StandardError.note("the codes cannot be shown: \(error)")
            }
        }
    }
}

extension GlobalOptions {
    /// How the codes are printed.
    func codes(asPicture: Bool) throws -> ApprovalCodes {
        guard !asPicture || !json else { throw CommandFailure(usage: "--qr is for people, and --json is not") }
        if asPicture { try QRPicture.requireProgram() }
        return ApprovalCodes(asJson: json, asPicture: asPicture)
    }
}
