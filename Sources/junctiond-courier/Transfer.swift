import CCurl
import CLinux
import JunctionCourier
import JunctionSecret

/// One request and its answer.
///
/// libcurl calls it while it works and keeps a plain pointer to it: the transfer takes that pointer back before it goes.
final class Transfer {
    let number: UInt32
    let request: TransferRequest
    let easy: UnsafeMutableRawPointer
    let way: Route
    private let daemon: DaemonConnection
    private var network: UnsafeMutableRawPointer?
    /// The headers as libcurl wants them; it does not copy them.
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Whom the connection trusts, for as long as there may be one.
    private var authorities: Authorities?
    /// What libcurl says about an error, where its number says too little.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private var steps: TransferSteps
    private var body = OutgoingBody()
    private var head = IncomingHead()
    private var received: UInt64 = 0
    private var window = Flow.window
    private var isPaused = false
    /// What we ended it for ourselves.
    private var verdict: TransferFailure.Cause?

    /// When the next limit is reached, on the clock that never steps.
    var deadline: Int64 { isPaused ? steps.endOfWhole : steps.deadline }

    init(_ request: TransferRequest, _ number: UInt32, _ way: Route, for daemon: DaemonConnection) {
        guard let easy = curl_easy_init() else { fatalError("There is no memory for a transfer") }
        self.number = number
        self.request = request
        self.easy = easy
        self.way = way
        self.daemon = daemon
        words.pointee = 0
        steps = TransferSteps(request.limits, at: clinux_boot_milliseconds())
    }

    deinit {
        if let network { curl_multi_remove_handle(network, easy) }
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        words.deallocate()
    }

    /// Keeps whom the transfer trusts, which libcurl has a plain pointer to.
    func keep(_ authorities: Authorities?) {
        self.authorities = authorities
    }

    /// Puts the transfer on its way, once everything about it has been set.
    ///
    /// - Parameter headers: what is sent, which the transfer gives back when it goes.
    func start(on network: UnsafeMutableRawPointer, with headers: UnsafeMutablePointer<curl_slist>?) {
        self.headers = headers
        self.network = network
        ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
        ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, words)
        ccurl_set_callbacks(
            easy,
            Unmanaged.passUnretained(self).toOpaque(),
            { bytes, _, count, context in
                Transfer.at(context).took(line: UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
            },
            { bytes, _, count, context in
                Transfer.at(context).took(part: UnsafeRawBufferPointer(start: bytes, count: count))
            },
            { bytes, size, count, context in
                Transfer.at(context).give(to: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            },
            { context, _, _, _, _ in
                Int32(Transfer.at(context).leaves() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
            }
        )
        curl_multi_add_handle(network, easy)
    }

    /// The transfer that a handle belongs to.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer { at(ccurl_context(easy)) }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context else { fatalError("libcurl has forgotten whose transfer it is") }
        return Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: The daemon

    /// More of the request's body, which libcurl may be waiting for.
    func give(_ bytes: SharedSecret) {
        body.append(bytes)
        goOn()
    }

    func giveEnd() {
        body.end()
        goOn()
    }

    /// There is space for so much more of the answer.
    func grant(_ count: Int) {
        window += count
        goOn()
    }

    /// Whoever said that there is nothing to do is asked again; libcurl calls back from in here.
    private func goOn() {
        isPaused = false
        steps.moved(at: clinux_boot_milliseconds())
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    // MARK: libcurl

    /// - Returns: whether the request may leave.
    private func leaves() -> Bool {
        // A daemon that is held up is waited for before the time is looked at: not between what is said and done, and not when libcurl
        // asks for the body.
        daemon.waitForRoom()
        guard steps.leaves(at: clinux_boot_milliseconds()) else {
            verdict = .connectedTooLate
            return false
        }
        daemon.tell(.leaving, about: number)
        return true
    }

    /// - Returns: how many bytes were written, zero for the end of the body, or that there are none yet.
    private func give(to room: UnsafeMutableRawBufferPointer) -> Int {
        steps.moved(at: clinux_boot_milliseconds())
        let given = body.take(into: room)
        if given > 0 {
            daemon.tell(.credit(UInt32(given)), about: number)
            return given
        }
        if body.isComplete { return 0 }
        // A body that may take as long as it likes comes from somebody who may take their time; the daemon looks after that.
        isPaused = request.limits.whole == 0
        return Int(CURL_READFUNC_PAUSE)
    }

    /// - Returns: whether to go on.
    private func took(line: UnsafeRawBufferPointer) -> Bool {
        switch head.take(line) {
        case .incomplete:
            // The daemon does not hear of it: a head has the time of one silence, however it trickles.
            return true
        case .complete(let head):
            steps.moved(at: clinux_boot_milliseconds())
            guard head.bodyLength(answering: request.method) != nil, daemon.tell(.head(head), about: number) else {
                verdict = .notHTTP
                return false
            }
            return true
        case .unreadable:
            verdict = .notHTTP
            return false
        }
    }

    /// - Returns: how many bytes were taken: all, or none for now, or none for good.
    private func took(part: UnsafeRawBufferPointer) -> Int {
        steps.moved(at: clinux_boot_milliseconds())
        // libcurl has read an answer where there is none.
        guard head.isComplete else {
            verdict = .notHTTP
            return 0
        }
        guard part.count <= window else {
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        let longest = request.limits.longestAnswer
        guard longest == 0 || received + UInt64(part.count) <= longest else {
            verdict = .tooLong
            return 0
        }
        received += UInt64(part.count)
        window -= part.count
        var rest = part[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Flow.longestPart)
            daemon.tell(.body(SharedSecret(copying: UnsafeRawBufferPointer(rebasing: piece))), about: number)
            rest = rest.dropFirst(piece.count)
        }
        return part.count
    }

    // MARK: The end

    /// What libcurl says in the end, told to the daemon.
    func finish(_ outcome: CURLcode) {
        if outcome == CURLE_OK, verdict == nil, head.isComplete {
            daemon.tell(.end, about: number)
            return
        }
        tell(TransferFailure(outcome, of: self, verdict: verdict))
    }

    /// Ends it when a limit has been reached.
    ///
    /// - Parameter now: when the network was last looked at.
    /// - Returns: whether it is over.
    func isLate(at now: Int64) -> Bool {
        if ccurl_size(easy, CURLINFO_NAMELOOKUP_TIME_T) > 0 { steps.resolved(at: clinux_boot_milliseconds()) }
        guard let cause = steps.lateness(at: now, isPaused: isPaused) else { return false }
        tell(TransferFailure(cause, of: self, limitOfAnswer: steps.limitOfAnswer(at: now)))
        return true
    }

    private func tell(_ failure: TransferFailure) {
        daemon.tell(.failed(failure), about: number)
    }

    /// Any of the request may have reached the server.
    var hasLeft: Bool { steps.hasLeft }
    /// The connection to the server, or to the proxy on the way there, has stood.
    var hasConnected: Bool { ccurl_size(easy, CURLINFO_CONNECT_TIME_T) > 0 }
    /// What libcurl said in the end.
    var lastWords: String { String(cString: words) }
    /// The status of the answer, as far as there is one.
    var status: UInt16 { head.status }
}
