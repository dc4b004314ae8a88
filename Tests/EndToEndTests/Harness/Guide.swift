import Foundation
import JunctionTesting

/// A page of the documentation, whose commands the tests run.
enum Guide {
    /// - Parameter page: The path of the page from the project's root.
    static func text(of page: String) throws -> String {
        try String(contentsOfFile: Program.root + "/" + page, encoding: .utf8)
    }

    /// Returns the shell commands of a page, block by block, without the fences.
    static func shellBlocks(of page: String) throws -> [String] {
        try text(of: page).components(separatedBy: "\n```").filter { $0.hasPrefix("sh\n") }
            .map { String($0.dropFirst("sh\n".count)) }
    }
}
