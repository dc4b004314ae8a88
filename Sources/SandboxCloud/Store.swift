import FoundationEssentials
import Synchronization

/// All data of the sandbox.
struct Contents: Sendable {
    /// The part that the state file stores.
    var state = CloudState()
    var settings: Settings
    /// The faults that have not been used up, the oldest first.
    var faults: [Fault] = []
    var tally = Tally()
    var requests = RequestLog()
}

/// The time and the settings for one request.
struct Moment: Sendable {
    /// The time on the sandbox's own clock.
    let now: Date
    /// The offset of that clock, in seconds.
    let offset: Double
    let settings: Settings

    fileprivate init(_ contents: Contents) {
        offset = contents.state.clockOffset
        now = Date() + offset
        settings = contents.settings
    }

    /// Converts a time of the sandbox's clock to this machine's clock. Absolute times on the wire, and the `Date`
    /// header, use this machine's clock, which is never advanced.
    func stated(_ time: Date) -> Date { time - offset }

    /// Converts a time of a client, on this machine's clock, to the sandbox's clock.
    func meant(_ time: Date) -> Date { time + offset }
}

/// Holds the data of the sandbox, writes the state file, and signals changes.
final class Store: Sendable {
    private let contents: Mutex<Contents>
    private let listeners = Mutex<[UUID: AsyncStream<Void>.Continuation]>([:])
    private let initialSettings: Settings
    private let file: StateFile?

    /// Reads the state file if there is one.
    init(settings: Settings, file: StateFile?) throws {
        self.file = file
        initialSettings = settings
        contents = Mutex(Contents(state: try file?.load() ?? CloudState(), settings: settings))
    }

    var snapshot: (contents: Contents, moment: Moment) { contents.withLock { ($0, Moment($0)) } }

    var settings: Settings { snapshot.contents.settings }

    func read<Answer: Sendable>(_ body: (CloudState, Moment) throws -> Answer) rethrows -> Answer {
        let (contents, moment) = snapshot
        return try body(contents.state, moment)
    }

    /// Changes the persistent state. If the body throws or the file cannot be written, the state stays unchanged.
    func change<Answer: Sendable>(_ body: (inout CloudState, Moment) throws -> Answer) throws -> Answer {
        try update { contents in
            var next = contents.state
            let answer = try body(&next, Moment(contents))
            try file?.save(next)
            contents.state = next
            return answer
        }
    }

    /// Changes the persistent state for a token request. Changes stay in force even if the request is refused.
    func grant<Answer: Sendable>(
        _ body: (inout CloudState, Moment) throws(TokenRefusal) -> Answer
    ) throws -> Answer {
        try change { state, moment in
            Result { () throws(TokenRefusal) in try body(&state, moment) }
        }.get()
    }

    /// Changes data that a restart loses.
    @discardableResult
    func update<Answer: Sendable>(_ body: (inout Contents) throws -> Answer) rethrows -> Answer {
        let answer = try contents.withLock { try body(&$0) }
        for signal in listeners.withLock({ Array($0.values) }) { signal.yield() }
        return answer
    }

    func count(_ change: (inout Tally) -> Void) {
        update { change(&$0.tally) }
    }

    func change<Group: SettingsGroup>(
        _ group: WritableKeyPath<Settings, Group>,
        by order: [String: JSONValue]
    ) throws -> Group {
        let initial = initialSettings[keyPath: group]
        return try update { contents in
            let changed = try contents.settings[keyPath: group].changed(by: order, from: initial)
            contents.settings[keyPath: group] = changed
            return changed
        }
    }

    /// Resets everything. Keeps only the counters of requests in progress.
    func reset() throws {
        try change { state, _ in state = CloudState() }
        update { contents in
            contents.settings = initialSettings
            contents.faults = []
            contents.tally = contents.tally.underWay
            contents.requests.clear()
        }
    }

    /// Returns a stream with an element now and an element after changes. One element can stand for several changes.
    func changes() -> AsyncStream<Void> {
        let (changes, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listener = UUID()
        listeners.withLock { $0[listener] = signal }
        signal.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.removeValue(forKey: listener) }
        }
        signal.yield()
        return changes
    }
}
