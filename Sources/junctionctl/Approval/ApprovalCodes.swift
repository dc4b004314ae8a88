import JunctionClient
import JunctionProtocol

/// Prints the codes of a device sign-in, which a person approves on another screen.
struct ApprovalCodes: Sendable {
    let asJson: Bool
    let asPicture: Bool

    /// Prints the codes as JSON, or as text and optionally a QR picture.
    func show(_ state: Connection.Answered<Snapshot>) throws {
        guard let authorization = state.value.authorization else { return }
        if asJson { return try StandardOutput.line(state.json) }
        guard let instructions = ApprovalText(authorization).instructions else { return }
        try StandardOutput.line(instructions)
        if asPicture, let picture = QRPicture(of: authorization) { show(picture) }
    }

    /// If the picture cannot be drawn, the text is enough.
    private func show(_ picture: QRPicture) {
        do {
            try picture.drawn().withUnsafeBytes(StandardOutput.writeUnchanged)
            try StandardOutput.line("")
        } catch {
            StandardError.note("there is no QR picture: 'qrencode' could not draw it")
        }
    }

    /// Prints the codes as soon as the session has them, while this thread waits for something else.
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
    /// Returns how to print the codes.
    func codes(asPicture: Bool) throws -> ApprovalCodes {
        guard !asPicture || !json else { throw CommandFailure(usage: "--qr and --json cannot be combined") }
        if asPicture { try QRPicture.requireProgram() }
        return ApprovalCodes(asJson: json, asPicture: asPicture)
    }
}
