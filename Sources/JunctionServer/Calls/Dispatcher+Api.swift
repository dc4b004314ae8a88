import JunctionProtocol
import JunctionSession
import NIOCore

/// One API call. It counts for its caller, and occupies one transfer, until it has ended.
final class ApiTransfer {
    private let account: CallerAccount
    private var isOver = false

    init(for account: CallerAccount) {
        self.account = account
        account.calls += 1
    }

    /// Ends the transfer: the whole answer has been taken, or it is not needed.
    func end() {
        guard !isOver else { return }
        isOver = true
        account.calls -= 1
    }
}

extension Dispatcher {
    func mayCall(_ caller: Caller) -> Bool { caller.account.calls < limits.calls }

    /// Makes one API call.
    ///
    /// - Parameter then: called once on the event loop. If it gets an answer, it must take or abandon the whole body,
    ///   and then end the transfer.
    func call(
        _ request: JunctionSession.ApiRequest,
        for caller: Caller,
        then: @escaping (Result<(answer: JunctionSession.ApiAnswer, transfer: ApiTransfer), WireError>) -> Void
    ) {
        guard mayCall(caller) else { return then(.failure(.tooManyCalls)) }
        let user = caller.user
        let waiting = NIOLoopBound((self, caller, ApiTransfer(for: caller.account), then), eventLoop: eventLoop)
        // A reload may withdraw the right while the credential is renewed or the provider works.
        let isAllowed = { @Sendable in
            let (dispatcher, caller, _, _) = waiting.value
            return dispatcher.exposesApi && caller.policyAllows(.api)
        }
        owner.assumeIsolated { owner in
            owner.call(request, by: user, while: isAllowed) { outcome in
                let (dispatcher, caller, transfer, then) = waiting.value
                let denial = dispatcher.denial(of: .apiRequest, to: caller)
                switch outcome {
                case .success(let answer) where denial == nil: return then(.success((answer, transfer)))
                case .success(let answer):
                    answer.stream?.abandon()
                    transfer.end()
                    if let denial { then(.failure(denial)) }
                case .failure(let refusal):
                    transfer.end()
                    then(.failure(denial ?? WireError(refusal)))
                }
            }
        }
    }

    /// Answers `api.request`. The answer is one line, so its body is gathered first.
    func callApi(_ request: Request, _ call: WireApiRequest) {
        guard answers.mayBegin(for: request.caller.user) else { return request.fail(.tooManyAnswers) }
        let pending = PendingRequest(request)
        self.call(JunctionSession.ApiRequest(call), for: request.caller) { [self] outcome in
            switch outcome {
            case .failure(let error): pending.finish { $0.fail(error) }
            case .success(let (answer, transfer)): gather(answer, transfer, for: pending)
            }
        }
    }

    private func gather(_ answer: JunctionSession.ApiAnswer, _ transfer: ApiTransfer, for pending: PendingRequest) {
        let (request, connection) = (pending.request, pending.request.connection)
        guard !connection.isClosed else {
            answer.stream?.abandon()
            transfer.end()
            return pending.finish { _ in }
        }
        let (user, longestWait) = (request.caller.user, request.batch == nil ? timeouts.room : nil)
        let body = GatheredBody(of: answer, for: user, in: answers, waitingFor: longestWait, on: eventLoop)
        connection.bodyBegan(body)
        body.gather { [self] outcome in
            transfer.end()
            switch outcome {
            case .gathered:
                guard let denial = denial(of: .apiRequest, to: connection.caller) else {
                    return pending.finish(WireApiAnswer(answer), body)
                }
                connection.bodyEnded(body)
                body.end()
                pending.finish { $0.fail(denial) }
            case .failed(let error):
                connection.bodyEnded(body)
                pending.finish { $0.fail(error) }
            case .ended:
                connection.bodyEnded(body)
                pending.finish { _ in }
            }
        }
    }
}

extension WireError {
    static let tooManyCalls = WireError(
        .busy,
        "Your user has reached the limit of API calls. A call counts until its answer has been read: wait for one to end",
        retryAfter: 1
    )
    static let tooManyAnswers = WireError(
        .busy,
        "Your user, or all users together, have too much unread data of API answers: read the answers, and call again",
        retryAfter: 1
    )
}
