import CCurl
import CLinux
import Glibc
import JunctionNetworkHelper
import JunctionSecret

/// Runs the transfers of the daemon, many at the same time, on one thread that sleeps in libcurl.
final class TransferLoop {
    private let daemon: DaemonConnection
    private let network: UnsafeMutableRawPointer
    private let authorities = TrustStore()
    private var settings = NetworkSettings()
    private var transfers: [UInt32: Transfer] = [:]
    private var hasHello = false
    /// The daemon sends its greeting at once. A connection without a greeting would occupy the place of another helper.
    private let helloDeadline = clinux_boot_milliseconds() + 10_000

    init(serving daemon: DaemonConnection) {
        self.daemon = daemon
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let network = curl_multi_init() else {
            StandardError.say("there is no memory for the network library")
            exit(71)
        }
        self.network = network
    }

    func run() -> Never {
        daemon.send(.hello(version: DaemonMessage.version), about: 0)
        while true {
            do throws(FormatFault) {
                try daemon.receive { (number, message) throws(FormatFault) in try handle(message, about: number) }
            } catch {
                StandardError.say(
                    "the daemon sent \(error.what): both must be of one version; is an upgrade half done?"
                )
                exit(76)
            }
            guard hasHello || clinux_boot_milliseconds() < helloDeadline else {
                StandardError.say("no greeting arrived within 10 s: only junctiond may connect to this program")
                exit(76)
            }
            carry()
            daemon.signs?.give(at: clinux_boot_milliseconds())
            wait()
        }
    }

    private func handle(_ message: DaemonMessage, about number: UInt32) throws(FormatFault) {
        switch message {
        case .hello(let version):
            guard version == DaemonMessage.version, !hasHello else { throw FormatFault("another version's greeting") }
            hasHello = true
        case _ where !hasHello: throw FormatFault("a message before its greeting")
        case .settings(let settings):
            self.settings = settings
            authorities.trust(settings.trust)
        case .open(let request): try begin(request, number)
        // These messages may arrive after their transfer has ended.
        case .body(let bytes): transfers[number]?.give(bytes)
        case .end: transfers[number]?.giveEnd()
        case .credit(let count): transfers[number]?.grant(Int(count))
        case .cancel: transfers[number] = nil
        }
    }

    private func begin(_ request: TransferRequest, _ number: UInt32) throws(FormatFault) {
        guard transfers[number] == nil, transfers.count < Flow.mostTransfers else {
            throw FormatFault("a transfer too many")
        }
        let transfer = Transfer(request, number, Route(to: request.url, by: settings), for: daemon)
        if let failure = transfer.begin(on: network, using: settings, trusting: authorities) {
            daemon.send(.failed(failure), about: number)
        } else {
            transfers[number] = transfer
        }
    }

    /// Does all work that does not need to wait.
    private func carry() {
        // The time is read first: bytes that arrive while this thread waits for the daemon are not late, the next round
        // reads them.
        let now = clinux_boot_milliseconds()
        var running: Int32 = 0
        curl_multi_perform(network, &running)
        var outcome = CURLE_OK
        while let easy = ccurl_next_done(network, &outcome) {
            let transfer = Transfer.of(easy)
            transfer.finish(outcome)
            transfers[transfer.number] = nil
        }
        for transfer in transfers.values where transfer.isLate(at: now) {
            transfers[transfer.number] = nil
        }
    }

    /// Sleeps until the network, the daemon, a limit or the watchdog heartbeat needs work.
    private func wait() {
        let now = clinux_boot_milliseconds()
        let limit = transfers.values.map { $0.deadline }.min() ?? (hasHello ? Int64.max : helloDeadline)
        let next = min(limit, daemon.signs?.next ?? .max)
        var daemon = curl_waitfd(fd: daemon.socket, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        curl_multi_poll(
            network,
            &daemon,
            1,
            Int32(clamping: max(next.subtractingReportingOverflow(now).partialValue, 0)),
            nil
        )
    }
}
