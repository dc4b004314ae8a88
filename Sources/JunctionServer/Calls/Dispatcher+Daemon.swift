import JunctionProtocol
import JunctionSession

extension Dispatcher {
    func info(_ request: Request, _: NoParams) {
        request.succeed(DaemonInfo.self, introspection.info())
    }

    func metrics(_ request: Request, _: NoParams) {
        request.succeed(DaemonMetrics.self, DaemonMetrics.Answer(text: introspection.metricsText(tally)))
    }

    /// The counters since the start, with the present watchers and handlers.
    var tally: ServerCounters {
        var tally = counters
        (tally.watchers, tally.handlers) = (watchers.count + httpWatchers.count, handlers.count)
        tally.tokensOfUnits = unitCounters.tokens
        return tally
    }

    func diagnose(_ request: Request, _: NoParams) {
        let answer = request.later(DaemonDiagnose.self)
        introspection.diagnose(by: request.caller.user, tally) { answer(.success($0)) }
    }

    func reload(_ request: Request, _: NoParams) {
        introspection.reload(reloadAnswer(to: request))
    }

    /// Returns a function that answers a reload request with the result.
    func reloadAnswer(to request: Request) -> @Sendable (Result<[String], WireError>) -> Void {
        let answer = request.later(DaemonReload.self)
        return { answer($0.map(DaemonReload.Answer.init)) }
    }

    func discover(_ request: Request, _: NoParams) {
        prepared.withDiscoveryDocument(of: introspection) { request.succeed(with: $0) }
    }
}
