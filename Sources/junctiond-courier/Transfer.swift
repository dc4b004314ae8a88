import CCurl
import CLinux
import JunctionNetworkHelper
import JunctionSecret

/// One request and its answer.
///
/// libcurl holds an unretained pointer to the transfer and calls it. The transfer removes that pointer in `deinit`.
final class Transfer {
    let number: UInt32
    let request: TransferRequest
    let easy: UnsafeMutableRawPointer
    let way: Route
    private let daemon: DaemonConnection
    private var network: UnsafeMutableRawPointer?
    /// The headers for libcurl, which does not copy them.
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// The certificate store. It must live as long as the connection may.
    private var authorities: Authorities?
    /// libcurl's description of an error, for cases in which its number is not specific enough.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private var steps: TransferSteps
    /// The part of the request's body that has arrived from the daemon and has not been sent yet.
    private var body = WipedQueue()
    private var isBodyComplete = false
    private var head = IncomingHead()
    private var received: UInt64 = 0
    private var window = Flow.window
    private var isPaused = false
    /// The reason why the helper itself ended the transfer.
    private var verdict: TransferFailure.Cause?

    /// When the next limit is reached, on the boot-time clock.
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

    /// Retains the certificate store, because libcurl holds an unretained pointer to it.
    func keep(_ authorities: Authorities?) {
        self.authorities = authorities
    }

    /// Starts the transfer after all its options have been set.
    ///
    /// - Parameter headers: the headers to send. The transfer frees them.
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

    /// Returns the transfer of a libcurl handle.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer { at(ccurl_context(easy)) }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context else { fatalError("libcurl has forgotten whose transfer it is") }
        return Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: The daemon

    /// Appends bytes to the request's body. libcurl may be waiting for them.
    func give(_ bytes: SharedSecret) {
        if !isBodyComplete { bytes.withUnsafeBytes { body.append($0) } }
        resume()
    }

    func giveEnd() {
        isBodyComplete = true
        resume()
    }

    /// Grants this many more bytes of the answer.
    func grant(_ count: Int) {
        window += count
        resume()
    }

    /// Resumes the transfer. libcurl invokes the callbacks during this call.
    private func resume() {
        isPaused = false
        steps.moved(at: clinux_boot_milliseconds())
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    // MARK: libcurl

    /// - Returns: whether the request may be sent.
    private func leaves() -> Bool {
        // If the daemon is not reading, the helper waits here, before it checks the send deadline. A wait between
        // `leaving` and the send, or when libcurl asks for the body, would come too late.
        daemon.waitForRoom()
        guard steps.leaves(at: clinux_boot_milliseconds()) else {
            verdict = .connectedTooLate
            return false
        }
        daemon.send(.leaving, about: number)
        return true
    }

    /// - Returns: the number of bytes that were written, zero at the end of the body, or `CURL_READFUNC_PAUSE` if there
    ///   are none yet.
    private func give(to room: UnsafeMutableRawBufferPointer) -> Int {
        steps.moved(at: clinux_boot_milliseconds())
        let given = body.take(atMost: room.count) { bytes in
            room.copyMemory(from: bytes)
            return bytes.count
        }
        if given > 0 {
            daemon.send(.credit(UInt32(given)), about: number)
            return given
        }
        if isBodyComplete { return 0 }
        // A body without a time limit may come from a slow app. The daemon enforces the limits of the app.
        isPaused = request.limits.whole == 0
        return Int(CURL_READFUNC_PAUSE)
    }

    /// - Returns: whether to continue.
    private func took(line: UnsafeRawBufferPointer) -> Bool {
        switch head.take(line) {
        case .incomplete:
            // The daemon is not notified, and `silence` does not restart: the whole head must arrive within one
            // `silence`.
            return true
        case .complete(let head):
            steps.moved(at: clinux_boot_milliseconds())
            guard head.bodyLength(answering: request.method) != nil, daemon.send(.head(head), about: number) else {
                verdict = .notHTTP
                return false
            }
            return true
        case .unreadable:
            verdict = .notHTTP
            return false
        }
    }

    /// - Returns: the number of bytes that were taken; `CURL_WRITEFUNC_PAUSE` to wait, and zero to abort.
    private func took(part: UnsafeRawBufferPointer) -> Int {
        steps.moved(at: clinux_boot_milliseconds())
        // libcurl delivers a body although no complete head was read.
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
            daemon.send(.body(SharedSecret(copying: UnsafeRawBufferPointer(rebasing: piece))), about: number)
            rest = rest.dropFirst(piece.count)
        }
        return part.count
    }

    // MARK: The end

    /// Reports the outcome of libcurl to the daemon.
    func finish(_ outcome: CURLcode) {
        if outcome == CURLE_OK, verdict == nil, head.isComplete {
            daemon.send(.end, about: number)
            return
        }
        report(TransferFailure(outcome, of: self, verdict: verdict))
    }

    /// Ends the transfer if a limit has been reached.
    ///
    /// - Parameter now: the time before the last network round.
    /// - Returns: whether the transfer has ended.
    func isLate(at now: Int64) -> Bool {
        if ccurl_size(easy, CURLINFO_NAMELOOKUP_TIME_T) > 0 { steps.resolved(at: clinux_boot_milliseconds()) }
        guard let cause = steps.lateness(at: now, isPaused: isPaused) else { return false }
        report(TransferFailure(cause, of: self, limitOfAnswer: steps.limitOfAnswer(at: now)))
        return true
    }

    private func report(_ failure: TransferFailure) {
        daemon.send(.failed(failure), about: number)
    }

    /// Whether a part of the request may have reached the server.
    var hasLeft: Bool { steps.hasLeft }
    /// Whether a connection to the server, or to the proxy, was established.
    var hasConnected: Bool { ccurl_size(easy, CURLINFO_CONNECT_TIME_T) > 0 }
    /// libcurl's description of the error.
    var lastWords: String { String(cString: words) }
    /// The status of the answer; zero before the status line.
    var status: UInt16 { head.status }
}
