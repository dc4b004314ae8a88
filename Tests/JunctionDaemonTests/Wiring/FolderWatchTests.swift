import Foundation
import NIOPosix
import Testing

@testable import JunctionDaemon

/// What is put into a folder is heard of; one that is not there hinders nobody.
struct FolderWatchTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "folder-watch-\(UUID().uuidString)")

    @Test func `a file that is put into one of several folders is news`() async throws {
        let there = folder.appending(path: "there")
        try FileManager.default.createDirectory(at: there, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (news, heard) = AsyncStream.makeStream(of: Void.self)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let folders = [folder.appending(path: "away").path, there.path]
        let watch = try FolderWatch(of: folders, on: loop) { heard.yield() }

        // Written and moved into place, as those who manage a network do it, and written where it lies.
        try Data("x".utf8).write(to: folder.appending(path: "new"))
        try FileManager.default.moveItem(at: folder.appending(path: "new"), to: there.appending(path: "state"))
        var iterator = news.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        try Data("y".utf8).write(to: there.appending(path: "other"))
        #expect(await iterator.next() != nil)
        withExtendedLifetime(watch) {}
    }

    @Test func `a folder that appears is news, and so is what is put into it, each time`() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let late = folder.appending(path: "late")
        let (news, heard) = AsyncStream.makeStream(of: Bool.self)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let watch = try FolderWatch(of: [late.path], awaitingMissing: true, on: loop) {
            heard.yield(FileManager.default.fileExists(atPath: late.path))
        }
        var iterator = news.makeAsyncIterator()

        // What else is in the folder in which it belongs is nobody's business.
        try Data("x".utf8).write(to: folder.appending(path: "other"))
        for _ in 0..<2 {
            try FileManager.default.createDirectory(at: late, withIntermediateDirectories: false)
            #expect(await iterator.next() == true)
            try Data("y".utf8).write(to: late.appending(path: "state"))
            #expect(await iterator.next() == true)
            try FileManager.default.removeItem(at: late)
        }
        withExtendedLifetime(watch) {}
    }

    @Test func `where there is none of the folders nothing can be watched`() {
        #expect(throws: SystemFailure.self) {
            try FolderWatch(of: [folder.path], on: MultiThreadedEventLoopGroup.singleton.next()) {}
        }
    }
}
