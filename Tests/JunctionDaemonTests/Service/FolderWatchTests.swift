import Foundation
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

@testable import JunctionDaemon

/// Reports of files and folders that appear. A missing folder is not an error.
@Suite final class FolderWatchTests {
    private let folder = TemporaryFolder()
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    deinit {
        try? group.syncShutdownGracefully()
    }

    @Test func `a new file in one of several folders is reported`() async throws {
        let there = try folder.makeFolder("there")
        let (news, heard) = AsyncStream.makeStream(of: Void.self)
        try FolderWatch.start(of: [folder.path + "/away", there], on: group.next()) { heard.yield() }

        // First a file that is renamed into the folder, as network services do it, then a file that is written in
        // place.
        try FileManager.default.moveItem(atPath: folder.write("x", to: "new"), toPath: there + "/state")
        var iterator = news.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        try folder.write("y", to: "there/other")
        #expect(await iterator.next() != nil)
    }

    @Test func `a new folder and its new files are reported, each time it appears`() async throws {
        let late = folder.path + "/late"
        let (news, heard) = AsyncStream.makeStream(of: Bool.self)
        try FolderWatch.start(of: [late], on: group.next()) {
            heard.yield(FileManager.default.fileExists(atPath: late))
        }
        var iterator = news.makeAsyncIterator()

        // Another file in the parent folder is not reported.
        try folder.write("x", to: "other")
        for _ in 0..<2 {
            try folder.makeFolder("late")
            #expect(await iterator.next() == true)
            try folder.write("y", to: "late/state")
            #expect(await iterator.next() == true)
            try FileManager.default.removeItem(atPath: late)
        }
    }

    @Test func `a watch fails if neither a folder nor its parent exists`() {
        #expect(throws: SystemFailure.self) {
            try FolderWatch.start(of: [folder.path + "/away/late"], on: group.next()) {}
        }
    }
}
