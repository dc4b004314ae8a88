import JunctionProtocol
import JunctionSession

/// About the daemon itself.
extension Dispatcher {
    func info(_ request: Request, _: NoParams) {
        request.succeed(DaemonInfo.self, desk.info())
    }

    func metrics(_ request: Request, _: NoParams) {
        request.succeed(DaemonMetrics.self, DaemonMetrics.Answer(text: desk.metricsText()))
    }

    func diagnose(_ request: Request, _: NoParams) {
        let answer = request.later(DaemonDiagnose.self)
        desk.diagnose { answer(.success($0)) }
    }

    func discover(_ request: Request, _: NoParams) {
        request.succeed(RpcDiscover.self, RpcDiscover.Answer(json: desk.discoveryDocument()))
    }
}
