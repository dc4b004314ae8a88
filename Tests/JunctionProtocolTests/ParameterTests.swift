import JunctionJSON
import JunctionProtocol
import Testing

/// The parameters of the methods, and the errors for invalid ones.
struct ParameterTests {
    @Test(
        arguments: [
            ("token.get", #"{"minimumValidity":"60"}"#, "'minimumValidity' must be a number of seconds, zero or more"),
            ("token.get", #"{"minimumValidity":-1}"#, "'minimumValidity' must be a number of seconds, zero or more"),
            ("token.get", #"{"minimumValidity":1e999}"#, "'minimumValidity' must be a number of seconds, zero or more"),
            ("token.get", #"{"minValidity":60}"#, "'minValidity' is not a parameter of this method"),
            ("session.status", #"{"verbose":true}"#, "'verbose' is not a parameter of this method"),
            ("rpc.discover", #"{"a":1}"#, "'a' is not a parameter of this method"),
            (
                "session.signIn", "{}",
                "'scheme' is missing: it must be one of signInToken, linkCode, apiKey, userLogin, registration, registrationSignature, selfSigned, device, authorizationCode, refreshToken, tokenExchange"
            ),
            (
                "session.signIn", #"{"scheme":"password"}"#,
                "'scheme' must be one of signInToken, linkCode, apiKey, userLogin, registration, registrationSignature, selfSigned, device, authorizationCode, refreshToken, tokenExchange"
            ),
            (
                "session.signIn", #"{"scheme":"signInToken"}"#,
                "'token' is missing: it must be a string that is not empty"
            ),
            ("session.signIn", #"{"scheme":"signInToken","token":17}"#, "'token' must be a string that is not empty"),
            ("session.signIn", #"{"scheme":"signInToken","token":""}"#, "'token' must be a string that is not empty"),
            (
                "session.signIn", #"{"scheme":"linkCode","token":"x"}"#,
                "'token' is not a parameter of this scheme, linkCode"
            ),
            (
                "session.signIn", #"{"scheme":"userLogin","displayName":"N"}"#,
                "'userId' is missing: it must be a string of 1 to 1024 bytes"
            ),
            (
                "session.signIn", #"{"scheme":"userLogin","userId":"u","displayName":1}"#,
                "'displayName' must be a string of at most 1024 bytes"
            ),
            (
                "session.signIn", #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":-1}"#,
                "'sequence' must be a whole number from 0 to 18446744073709551615, or a string with its decimal digits"
            ),
            (
                "session.signIn", #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":"+1"}"#,
                "'sequence' must be a whole number from 0 to 18446744073709551615, or a string with its decimal digits"
            ),
            (
                "session.signIn",
                #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":"18446744073709551616"}"#,
                "'sequence' must be a whole number from 0 to 18446744073709551615, or a string with its decimal digits"
            ),
            (
                "session.signIn",
                #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":18446744073709551616}"#,
                "'sequence' must be a whole number from 0 to 18446744073709551615, or a string with its decimal digits"
            ),
            (
                "session.signIn", #"{"scheme":"registrationSignature","userId":"u","signature":"s","sequence":1.5}"#,
                "'sequence' must be a whole number from 0 to 18446744073709551615, or a string with its decimal digits"
            ),
            ("session.signIn", #"{"scheme":"apiKey","apiKey":{}}"#, "'apiKey' must be a string that is not empty"),
            ("session.identify", "{}", "'externalUserId' is missing: it must be a string, or null for nobody"),
            ("session.identify", #"{"externalUserId":""}"#, "'externalUserId' must be a string of 1 to 1024 bytes"),
            ("session.identify", #"{"externalUserId":7}"#, "'externalUserId' must be a string of 1 to 1024 bytes"),
            ("session.reconcile", "{}", "'userId' is missing: it must be a string, or null for nobody"),
            ("session.subscribe", #"{"changes":"some"}"#, "'changes' must be 'all' or 'state'"),
            ("session.subscribe", #"{"changes":7}"#, "'changes' must be 'all' or 'state'"),
            ("api.request", #"{"path":"/v2"}"#, "'method' is missing: it must be an HTTP method"),
            ("api.request", #"{"method":"GET /","path":"/v2"}"#, "'method' must be an HTTP method"),
            ("api.request", #"{"method":"GET","path":"v2"}"#, "'path' must begin with '/'"),
            ("api.request", #"{"method":"GET","path":""}"#, "'path' must begin with '/'"),
            (
                "api.request", #"{"method":"GET","path":"/","query":{"a":1}}"#,
                "'query' must be an object of well-formed strings"
            ),
            ("api.request", #"{"method":"GET","path":"/","query":["a"]}"#, "'query' must be an object of strings"),
            (
                "api.request", #"{"method":"GET","path":"/","headers":{"a":"b\r\nc: d"}}"#,
                "'headers' must be an object of well-formed strings"
            ),
            (
                "api.request", #"{"method":"GET","path":"/","headers":{"a b":"c"}}"#,
                "'headers' must be an object of well-formed strings"
            ),
            ("api.request", #"{"method":"GET","path":"/","body":{}}"#, "'body' must be a string"),
            (
                "api.request", #"{"method":"GET","path":"/","bodyBase64":"YQ"}"#,
                "'bodyBase64' must be base64 of RFC 4648, padded"
            ),
            (
                "api.request", #"{"method":"GET","path":"/","body":"a","bodyBase64":"YQ=="}"#,
                "'bodyBase64' excludes 'body'"
            ),
            ("session.signIn", "7", "'credential' must be an object"),
            ("handler.register", "[1]", "'params' must be an object: parameters go by name"),
            (
                "session.status", #"{"a\u0007bcdefghijklmnopqrstuvwxyzabcdefghijklmnopq":1}"#,
                "'a?bcdefghijklmnopqrstuvwxyzabcdefghijklm…' is not a parameter of this method"
            ),
        ]
    )
    func `an invalid parameter is named in the error`(_ method: String, _ params: String, _ complaint: String) throws {
        let name = try json("\"\(method)\"")
        let definition = try #require(Method(name)).definition

        let mismatch = try #require(throws: WireMismatch.self) { try definition.read(json(params)) }

        #expect(mismatch.description == complaint)
        #expect(WireError.invalidParams(mismatch).code == -32602)
    }

    @Test func `a query and the headers have a limited number of names`() throws {
        func request(_ member: String, _ names: Int) throws -> ApiRequest {
            let texts = (0..<names).map { #""n\#($0)":"""# }.joined(separator: ",")
            return try ApiRequest(reading: json(#"{"method":"GET","path":"/","\#(member)":{\#(texts)}}"#))
        }
        #expect(Array(try request("query", 256).query).count == 256)
        for member in ["query", "headers"] {
            let mismatch = try #require(throws: WireMismatch.self) { try request(member, 257) }
            #expect(mismatch.description == "'\(member)' must have at most 256 names")
        }
    }

    @Test func `an optional member that is null is absent`() throws {
        #expect(try TokenGet.Params(reading: json(#"{"minimumValidity":null}"#)).minimumValidity == nil)
        #expect(try SessionIdentify.Params(reading: json(#"{"externalUserId":null}"#)).externalUserId == nil)
        let credential = try Credential(reading: json(#"{"scheme":"userLogin","userId":"u","authToken":null}"#))
        #expect(credential == .userLogin(userId: "u"))
    }

    @Test func `the last of two members with the same name counts`() throws {
        let params = try TokenGet.Params(reading: json(#"{"minimumValidity":"x","minimumValidity":1.5}"#))

        #expect(params.minimumValidity == 1.5)
        #expect(params.validity == .milliseconds(1500))
    }

    @Test func `every validity fits into a duration`() {
        #expect(TokenGet.Params(minimumValidity: .greatestFiniteMagnitude).validity == .seconds(1000 * 366 * 86_400))
        #expect(TokenGet.Params().validity == .zero)
    }

    @Test func `a printed parameter does not show its secret`() throws {
        let credential = try Credential(reading: json(#"{"scheme":"signInToken","token":"s3cr3t"}"#))

        var dumped = ""
        dump(credential, to: &dumped)

        #expect(!"\(credential)".contains("s3cr3t"))
        #expect(!String(reflecting: credential).contains("s3cr3t"))
        #expect(!dumped.contains("s3cr3t"))
    }
}

extension MethodDefinition {
    fileprivate static func read(_ params: JSONValue) throws(WireMismatch) -> Params {
        try Params(reading: params)
    }
}
