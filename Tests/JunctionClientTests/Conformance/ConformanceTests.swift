import Foundation
import JunctionJSON
import JunctionTesting
import Testing

/// The behaviour that every client must have, in any language. `clients/conformance` contains the transcripts, and the
/// program that plays the daemon's side.
struct ConformanceTests {
    @Test(
        .enabled(if: PlayedTranscript.isPossible, "python3, which plays the daemon's side, is missing"),
        arguments: stories
    )
    func `a client behaves as a shared transcript requires`(name: String) async throws {
        try await PlayedTranscript(name).play()
    }

    private static let stories = PlayedTranscript.names
}

/// One transcript: the scripted daemon plays one side, and JunctionClient the other.
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
        #expect(try await daemon.nextLine() == "listening")
        for step in steps.elements { try await player.play(step) }
        player.close()
        let ending = try await daemon.ended()
        #expect(ending.status == 0, "\(ending.errors)")
    }
}

/// The process of `scripted-daemon`, with its input and output.
final class DaemonProcess: @unchecked Sendable {
    // Used by one thread at a time: the test, or the thread that the test waits for.
    let socket: String
    private let process: RunningProgram

    init(program: URL, transcript: URL) throws {
        let folder = TemporaryFolder()
        socket = folder.path + "/daemon"
        process = try RunningProgram(program.path, [transcript.path, socket], in: folder, isDialogue: true)
    }

    /// Returns the next line of the output; `nil` after the process has ended.
    func nextLine() async throws -> String? {
        try await onThread { [self] in try process.lines.next() }
    }

    func tell() {
        // If the process has failed already, `ended` reports why.
        try? process.tell()
    }

    func ended() async throws -> Program.Ending {
        try await onThread { [self] in try process.program.wait() }
    }
}
