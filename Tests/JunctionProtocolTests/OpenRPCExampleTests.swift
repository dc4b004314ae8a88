import Foundation
import JunctionJSON
import JunctionProtocol
import Testing

/// The examples of the OpenRPC document. Each can be read as the call that it shows, and matches its schemas.
struct OpenRPCExampleTests {
    private let document: JSONValue
    private let checker: SchemaChecker

    init() throws {
        document = try JSONValue.parse(OpenRPCDocument(version: "1.2.3").json())
        checker = SchemaChecker(["document": document])
    }

    @Test(arguments: JunctionProtocol.Method.allCases)
    func `every method has a valid example`(method: JunctionProtocol.Method) throws {
        // An example of this method would have to contain the document.
        guard method != .rpcDiscover else { return }
        try check(method.definition, among: "methods", at: method.rawValue, hasAnswer: true)
    }

    @Test(arguments: DaemonCall.allCases)
    func `every call of the daemon has a valid example`(call: DaemonCall) throws {
        try check(call.definition, among: "x-daemonCalls", at: call.rawValue, hasAnswer: call.isRequest)
    }

    private func check<Definition: MethodDefinition>(
        _: Definition.Type,
        among list: StaticString,
        at index: Int,
        hasAnswer: Bool
    ) throws {
        let place = "document#/\(list)/\(index)"
        let method = Array(try #require(document[list]).elements)[index]
        #expect(method["name"]?.string == "\(Definition.name)")
        let examples = Array(try #require(method["examples"], "\(Definition.name) has none").elements)
        #expect(examples.count == Definition.examples.count)
        #expect(Set(examples.compactMap { $0["name"]?.string }).count == examples.count)

        for (shown, made) in zip(examples, Definition.examples) {
            let params = Array(try #require(shown["params"]).elements)
            for param in params {
                let name = try #require(param["name"]?.string)
                let known = Array(method["params"]!.elements).firstIndex { $0["name"]?.string == name }
                let schema = try #require(known, "\(Definition.name) takes no \(name)")
                let value = try #require(param["value"])
                #expect(checker.complaints(about: value, against: "\(place)/params/\(schema)/schema") == [])
            }
            let members = try params.map {
                "\(String(decoding: $0["name"]!.rawText, as: UTF8.self)):\(try text($0["value"]))"
            }
            let call = try json("{\(members.joined(separator: ","))}")
            #expect(try written(Definition.Params(reading: call)) == written(made.params))
            // The required members are present.
            if method["x-params"] != nil {
                #expect(checker.complaints(about: call, against: "\(place)/x-params") == [])
            }
            for param in method["params"]!.elements where param["required"]?.bool == true {
                #expect(params.contains { $0["name"]?.string == param["name"]?.string })
            }

            guard hasAnswer else {
                #expect(shown["result"] == nil)
                continue
            }
            let result = try #require(shown["result"]?["value"])
            #expect(checker.complaints(about: result, against: "\(place)/result/schema") == [])
            let answer = try #require(made.answer)
            #expect(try written(Definition.Answer(reading: result)) == written(answer))
        }
    }

    private func text(_ value: JSONValue?) throws -> String {
        String(decoding: try #require(value).rawText, as: UTF8.self)
    }

    @Test func `an example that does not match its schema is reported`() {
        for (index, value) in ["7", "null", #"{"accessToken":"t"}"#].enumerated() {
            let method = JunctionProtocol.Method.tokenGet.rawValue
            let complaints = checker.complaints(
                about: (try? json(value)) ?? document,
                against: "document#/methods/\(method)/result/schema"
            )
            #expect(!complaints.isEmpty, "\(index)")
        }
    }
}
