import ArgumentParser
import JunctionClient
import JunctionProtocol

/// Prints each new state of the session.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints one line for each state of the session, from the present one on.",
        discussion: """
            It goes on when the daemon is restarted. A daemon that is not there at first is an error; \
            'junctionctl wait' waits for it.
            """
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var feed = SnapshotFeed(from: options.path, patience: .onceConnected, unless: .outputClosed)
        do {
            try options.show(options.waiting { by throws(JunctionError) in try feed.next(by: by) }) {
                SnapshotText($0).line
            }
            // No deadline: the next change may take any time.
            while true { try options.show(feed.next()) { SnapshotText($0).line } }
        } catch let error as JunctionError where error.kind == .cancelled {
            // The reader has closed the pipe, as in `junctionctl watch | head -1`.
        }
    }
}
