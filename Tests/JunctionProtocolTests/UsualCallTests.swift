import Foundation
import JunctionJSON
import JunctionProtocol
import Testing

/// The calls that are read without a parser, held against the way that all others take.
struct UsualCallTests {
    /// `JUNCTION_CALLS` asks for another number, `JUNCTION_FIRST_SEED` for other ones.
    private static let calls = number("JUNCTION_CALLS") ?? 30_000
    private static let seed = number("JUNCTION_FIRST_SEED") ?? 1

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    @Test(arguments: Lines.usual)
    func `the usual calls are known`(_ line: String, _ kind: UsualCall.Kind) {
        #expect(usual(line + "\n") { $0.kind } == kind)
        // What comes behind is the next line.
        #expect(usual(line + "\n" + line) { $0.size } == line.utf8.count + 1)
    }

    @Test(arguments: Lines.unusual)
    func `whatever differs takes the long way`(_ line: String) {
        #expect(usual(line) { $0.kind } == nil)
    }

    @Test(arguments: UsualCall.Kind.allCases)
    func `what a usual call needs is what its method needs`(_ kind: UsualCall.Kind) {
        #expect(kind.capability == kind.method.capability)
    }

    @Test func `a million generated calls are understood and answered as on the long way`() throws {
        var random = SplitMix64(state: UInt64(Self.seed))
        var reader = MessageReader()
        var known = 0
        for number in 0..<Self.calls {
            let generated = GeneratedCall(using: &random)
            let result = generated.bytes.suffix(Int(random.next() % 40))

            let short = generated.bytes.withUnsafeBytes { Reading(short: $0, result: Array(result)) }
            let long = generated.bytes.withUnsafeBytes { Reading(long: $0, result: Array(result), &reader) }
            if let short {
                known += 1
                guard short == long else {
                    Issue.record("call \(number): \(generated) is \(short), and on the long way \(long as Any)")
                    return
                }
            } else if generated.isUsual {
                Issue.record("call \(number) is a usual one, and not known: \(generated)")
                return
            }
        }
        #expect(known > Self.calls / 20)
    }

    private func usual<Answer>(_ line: String, _ body: (UsualCall) -> Answer) -> Answer? {
        Array(line.utf8).withUnsafeBytes { UsualCall(atStartOf: $0).map(body) }
    }
}

private enum Lines {
    static let status = #"{"jsonrpc":"2.0","id":7,"method":"session.status"}"#

    static let usual: [(String, UsualCall.Kind)] = [
        (status, .sessionStatus),
        (#"{"jsonrpc":"2.0","id":0,"method":"session.status","params":{}}"#, .sessionStatus),
        (#"{"jsonrpc":"2.0","id":123456789012345678,"method":"token.get"}"#, .tokenGet),
        (#"{"jsonrpc":"2.0","id":10,"method":"token.get","params":{}}"#, .tokenGet),
    ]

    static let unusual = [
        "", "\n", status, status + "\r\n", status + " \n", " " + status + "\n", "[" + status + "]\n",
        #"{"jsonrpc":"2.0","id":,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":01,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":-1,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":1.5,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":"1","method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":null,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","id":1234567890123456789,"method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","method":"token.get"}"# + "\n",
        #"{"jsonrpc":"2.0","method":"token.get","id":1}"# + "\n",
        #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"minimumValidity":60}}"# + "\n",
        #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":[]}"# + "\n",
        #"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"# + "\n",
        #"{"jsonrpc":"2.0","id":1,"method":"token.gets"}"# + "\n",
    ]
}

/// What was understood of a call, and what it is answered.
private struct Reading: Equatable {
    var method: JunctionProtocol.Method
    var size: Int
    var answer: [UInt8]

    init?(short bytes: UnsafeRawBufferPointer, result: [UInt8]) {
        guard let call = UsualCall(atStartOf: bytes) else { return nil }
        (method, size) = (call.kind.method, call.size)
        answer = result.withUnsafeBytes { result in
            [UInt8](unsafeUninitializedCapacity: call.sizeOfAnswer(result)) { room, count in
                call.writeAnswer(result, to: UnsafeMutableRawBufferPointer(room))
                count = call.sizeOfAnswer(result)
            }
        }
    }

    init?(long bytes: UnsafeRawBufferPointer, result: [UInt8], _ reader: inout MessageReader) {
        var splitter = LineSplitter()
        var size = 0
        guard case .complete(let line)? = splitter.nextLine(in: bytes, from: &size),
            case .single(.request(let call, let id)) = reader.read(UnsafeRawBufferPointer(rebasing: bytes[line])),
            let method = JunctionProtocol.Method(call.name), call.params == nil
        else { return nil }
        (self.method, self.size, answer) = (method, size, [])
        result.withUnsafeBytes { answer.appendResult($0, for: id) }
        answer.endLine()
    }
}

/// A call as a program might write it, right or nearly right; mostly one of the usual ones.
private struct GeneratedCall: CustomStringConvertible {
    private(set) var bytes: [UInt8]
    /// It was written as the usual calls are, and nothing was done to it.
    let isUsual: Bool

    var description: String { String(decoding: bytes, as: UTF8.self) }

    init(using random: inout SplitMix64) {
        let space = ["", "", "", "", "", " "].randomElement(using: &random)!
        let id = Self.id(using: &random)
        let method = ["session.status", "session.status", "token.get", "token.get", "session.renew", "token.gett", ""]
            .randomElement(using: &random)!
        let params = [
            "", "", "", #","params":{}"#, #","params":{}"#, #","params":{ }"#, #","params":null"#, #","params":[]"#,
            #","params":{"minimumValidity":1}"#,
        ].randomElement(using: &random)!
        let ending = ["\n", "\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", ""].randomElement(using: &random)!
        let line = #"{"jsonrpc":"2.0",\#(space)"id":\#(id.text),"method":"\#(method)"\#(params)}\#(ending)"#
        bytes = Array(line.utf8)
        let isMarred = random.next() % 4 == 0
        isUsual =
            !isMarred && space.isEmpty && id.isUsual && ["session.status", "token.get"].contains(method)
            && ["", #","params":{}"#].contains(params) && ["\n", "\n\n"].contains(ending)
        if isMarred { mar(using: &random) }
    }

    private static func id(using random: inout SplitMix64) -> (text: String, isUsual: Bool) {
        let digits = Int(random.next() % 21)
        switch random.next() % 8 {
        case 0: return ("\"\(digits)\"", false)
        case 1: return ("0\(random.next() % 3 == 0 ? "" : "1")", false)
        case 2: return (["null", "-5", "1e3", "1.0", "true", "", "[1]"].randomElement(using: &random)!, false)
        default:
            let text = String(repeating: "\(1 + random.next() % 9)", count: digits)
            return (text, (1...18).contains(digits))
        }
    }

    /// One byte is another one, is missing, or is there twice; or the end has not come.
    private mutating func mar(using random: inout SplitMix64) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[place], at: place)
        default: bytes.removeSubrange(place...)
        }
    }
}
