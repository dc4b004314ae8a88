import Foundation
import JunctionJSON
import Testing

/// What every client has to do, whatever its language: `clients/conformance` has the stories, and plays the daemon's part.
struct ConformanceTests {
    @Test(
        .enabled(if: PlayedTranscript.isPossible, "python3 plays the daemon's part, and is not here"),
        arguments: stories
    )
    func `a story of all clients`(name: String) async throws {
        try await PlayedTranscript(name).play()
    }

    private static let stories = PlayedTranscript.names
}

/// One transcript: the scripted daemon plays one side of it, and JunctionClient the other.
final class PlayedTranscript {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../clients/conformance").standardizedFileURL

    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "transcripts").path)) ?? [])
        .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()

    static let isPossible = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/python3") }

    private let steps: JSONValue
    private let daemon: DaemonProcess
    private let player: ConformancePlayer

    init(_ name: String) throws {
        let file = Self.folder.appending(path: "transcripts/\(name).json")
        let transcript = try JSONValue.parse(Array(Data(contentsOf: file)))
        steps = try #require(transcript["do"])
        daemon = try DaemonProcess(program: Self.folder.appending(path: "scripted-daemon"), transcript: file)
        player = ConformancePlayer(daemon)
    }

    func play() async throws {
        #expect(await daemon.heard() == "listening")
        for step in steps.elements { try await player.play(step) }
        player.close()
        let (status, words) = await daemon.ended()
        #expect(status == 0, "\(words)")
    }
}

/// `scripted-daemon`, and what is said to it and by it.
final class DaemonProcess: @unchecked Sendable {
    // Used by one after the other: the test, or the thread that it waits for.
    let socket: String
    private let process = Process()
    private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    private var unread = Data()

    init(program: URL, transcript: URL) throws {
        socket = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(13)).sock").path
        process.executableURL = program
        process.arguments = [transcript.path, socket]
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        unlink(socket)
    }

    /// The next line that it says; nothing when it has gone.
    func heard() async -> String? {
        await onOwnThread { [self] in
            while true {
                if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { unread = Data(unread[(end + 1)...]) }
                    return String(decoding: unread[..<end], as: UTF8.self)
                }
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { return nil }
                unread += more
            }
        }
    }

    func tell() {
        // One that has failed already says why at its end.
        try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    }

    /// Waits until it is over, and has what it said of it.
    func ended() async -> (Int32, String) {
        await onOwnThread { [self] in
            let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, words)
        }
    }

    private func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
