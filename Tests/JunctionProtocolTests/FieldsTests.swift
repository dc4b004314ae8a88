import JunctionJSON
import Testing

@testable import JunctionProtocol

struct FieldsTests {
    private struct Sample: WireObject, Equatable {
        var must = "m"
        var other = "o"
        var null: String?
        var nobody: String?
        var left: String?

        static let fields = Fields(
            at: "sample",
            Sample.init(must:other:null:nobody:left:),
            Field("must", \.must, .text, "has to be there"),
            Field("other", \.other, .string, else: "else", "reads as something else"),
            Field("null", \.null, orNull: .string, "is null"),
            Field("nobody", \.nobody, orNobody: .text, "is null, and said to be"),
            Field("left", \.left, ifPresent: .string, "is left out")
        )
    }

    @Test func `a missing value is written as its field defines`() {
        #expect(written(Sample()) == #"{"must":"m","other":"o","null":null,"nobody":null}"#)
        #expect(
            written(Sample(must: "", other: "", null: "", nobody: "n", left: ""))
                == #"{"must":"","other":"","null":"","nobody":"n","left":""}"#
        )
    }

    @Test(
        arguments: [
            (#"{"must":"m","nobody":null}"#, Sample(other: "else")),
            (#"{"must":"m","nobody":null,"other":null,"null":null,"left":null,"new":1}"#, Sample(other: "else")),
            (
                #"{"left":"l","nobody":"n","null":"","other":"","must":"m"}"#,
                Sample(other: "", null: "", nobody: "n", left: "l")
            ),
        ]
    )
    private func `an absent member is read as its field defines`(_ text: String, _ sample: Sample) throws {
        #expect(try Sample(reading: json(text)) == sample)
    }

    @Test(
        arguments: [
            ("7", "'sample' must be an object"),
            (#"{"nobody":null}"#, "'sample.must' is missing: it must be a string that is not empty"),
            (#"{"must":null,"nobody":null}"#, "'sample.must' is missing: it must be a string that is not empty"),
            (#"{"must":"","nobody":null}"#, "'sample.must' must be a string that is not empty"),
            (#"{"must":"m"}"#, "'sample.nobody' is missing: it must be a string, or null for nobody"),
            (#"{"must":"m","nobody":null,"left":1}"#, "'sample.left' must be a string"),
        ]
    )
    func `an invalid member is named in the error`(_ text: String, _ complaint: String) throws {
        let mismatch = try #require(throws: WireMismatch.self) { try Sample(reading: json(text)) }

        #expect(mismatch.description == complaint)
    }

    @Test func `the description lists the required members`() {
        #expect(
            Sample.fields.members.filter { !$0.isOptional }.map { "\($0.name)" } == ["must", "other", "null", "nobody"]
        )
        #expect(Sample.fields.members.map(\.summary).last == "is left out")
    }

    @Test func `the parameters of a sign-in are the members of all schemes with their meanings`() throws {
        let named = Set(Credential.Scheme.allCases.flatMap { $0.members.map { "\($0.name)" } })

        #expect(Set(Credential.members.map { "\($0.name)" }) == named)
        #expect(Credential.members.count == named.count)
        let token = try #require(Credential.members.first { "\($0.name)" == "token" })
        #expect(
            token.summary == "signInToken: from the app's backend; registration: left out: a session handler is asked"
        )
    }
}
