import Foundation
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

@testable import JunctionDaemon

/// What is put into a folder is heard of; one that is not there hinders nobody.
@Suite final class FolderWatchTests {
    private let folder = TemporaryFolder()
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    deinit {
        try? group.syncShutdownGracefully()
    }

    @Test func `a file that is put into one of several folders is news`() async throws {
        let there = try folder.makeFolder("there")
        let (news, heard) = AsyncStream.makeStream(of: Void.self)
        try FolderWatch.start(of: [folder.path + "/away", there], on: group.next()) { heard.yield() }

        // Written and moved into place, as those who manage a network do it, and written where it lies.
        try FileManager.default.moveItem(atPath: folder.write("x", to: "new"), toPath: there + "/state")
        var iterator = news.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        try folder.write("y", to: "there/other")
        #expect(await iterator.next() != nil)
    }

    @Test func `a folder that appears is news, and so is what is put into it, each time`() async throws {
        let late = folder.path + "/late"
        let (news, heard) = AsyncStream.makeStream(of: Bool.self)
        try FolderWatch.start(of: [late], on: group.next()) {
            heard.yield(FileManager.default.fileExists(atPath: late))
        }
        var iterator = news.makeAsyncIterator()

        // What else is in the folder in which it belongs is nobody's business.
        try folder.write("x", to: "other")
        for _ in 0..<2 {
            try folder.makeFolder("late")
            #expect(await iterator.next() == true)
            try folder.write("y", to: "late/state")
            #expect(await iterator.next() == true)
            try FileManager.default.removeItem(atPath: late)
        }
    }

    @Test func `where there is neither a folder nor its parent nothing can be watched`() {
        #expect(throws: SystemFailure.self) {
            try FolderWatch.start(of: [folder.path + "/away/late"], on: group.next()) {}
        }
    }
}
