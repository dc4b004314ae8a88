import FoundationEssentials
import Hummingbird

/// The stand-in for Sinch's user registration.
///
/// The vendor documents the token and its rules, and not the endpoint that takes it: the rules here are the real ones,
/// the shape of requests and answers is ours.
struct SinchCloud: Vendor {
    let ledger: Ledger
    let counters: Counters
    let application: SinchApplication

    let tokenEndpoints: Set<String> = ["POST /v1/instance"]

    func addRoutes(to router: Router<CloudContext>) {
        addInstanceRoutes(to: router)
        addDrivingRoutes(to: router)
    }
}

extension Date {
    /// The whole second, since 1970.
    var second: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}

/// The clock that the `Date` header shows. It is this machine's, and is not advanced with the cloud's: whoever sends or
/// reads an absolute time means that one.
struct DateHeaderClock: Sendable {
    fileprivate let offset: Int64

    /// A time of the cloud, as it is told to a client.
    func stated(_ time: Int64) -> Int64 { time - offset }

    /// When it is in the cloud what a client calls so.
    func meant(_ time: Int64) -> Int64 { time + offset }
}

extension CloudState {
    var dateHeader: DateHeaderClock { DateHeaderClock(offset: Int64(clockOffset)) }
}
