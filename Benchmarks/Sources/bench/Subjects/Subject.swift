import CInstruments

/// A server that receives repeated requests.
struct Subject {
    enum Road {
        case socket(Exchange)
        /// From a process of this unit.
        case unit(Exchange, UnitGroup)
        /// liboidc-agent encrypts every call and opens a new connection for it; there is no other way.
        case oidcLibrary(account: String)
    }

    let name: String
    let processes: [Int32]
    let road: Road

    /// The request over its socket, if there is one.
    var exchange: Exchange? {
        if case .socket(let exchange) = road { exchange } else { nil }
    }

    func roundTrips(_ count: Int) throws -> Timings {
        switch road {
        case .socket(let exchange):
            return try exchange.roundTrips(count)
        case .unit(let exchange, let group):
            return try exchange.roundTrips(count, from: group)
        case .oidcLibrary(let account):
            var timings = timings()
            try check(instruments_oidc_calls(account, UInt32(count / 10), &timings), "asking oidc-agent")
            return Timings(timings)
        }
    }
}
