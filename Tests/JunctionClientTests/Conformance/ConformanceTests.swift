import Foundation
import JunctionJSON
import JunctionTesting
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
        #expect(try await daemon.heard() == "listening")
        for step in steps.elements { try await player.play(step) }
        player.close()
        let ending = try await daemon.ended()
        #expect(ending.status == 0, "\(ending.errors)")
    }
}

/// `scripted-daemon`, and what is said to it and by it.
final class DaemonProcess: @unchecked Sendable {
    // Used by one after the other: the test, or the thread that it waits for.
    let socket: String
    private let process: TalkingProgram

    init(program: URL, transcript: URL) throws {
        let folder = TemporaryFolder()
        socket = folder.path + "/daemon"
        process = try TalkingProgram(program.path, [transcript.path, socket], in: folder, isDialogue: true)
    }

    /// The next line that it says; nothing when it has gone.
    func heard() async throws -> String? {
        try await onThread { [self] in try process.lines.next() }
    }

    func tell() {
        // One that has failed already says why at its end.
        try? process.tell()
    }

    /// Waits until it is over.
    func ended() async throws -> Program.Ending {
        try await onThread { [self] in try process.program.wait() }
    }
}
