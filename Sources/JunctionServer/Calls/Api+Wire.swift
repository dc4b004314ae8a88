import JunctionProtocol
import JunctionSession

extension JunctionSession.ApiRequest {
    init(_ request: WireApiRequest) {
        self.init(
            method: request.method,
            path: request.path,
            query: request.query.map { (name: $0.name, value: $0.value) },
            headers: request.headers.map { (name: $0.name, value: $0.value) },
            body: request.body
        )
    }
}

extension WireApiAnswer {
    init(_ answer: JunctionSession.ApiAnswer) {
        var headers = NamedTexts()
        for header in answer.headers { headers.append(header.name, header.value) }
        self.init(status: answer.status, headers: headers, body: answer.body)
    }
}
