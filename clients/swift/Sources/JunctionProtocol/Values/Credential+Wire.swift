package import JunctionJSON

extension Credential: WireParams {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let scheme = try Members(value, at: "", named: "credential").required("scheme", .scheme)
        let members = try Members(params: value, allowing: scheme.members, because: "scheme, \(scheme.rawValue)")
        self = try scheme.fields.read(among: members)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("scheme", scheme)
            kind.fields.write(self, to: &writer)
        }
    }

    /// The names of all schemes.
    package static let schemes = Scheme.allCases.map(\.rawValue)

    /// All members of all schemes, as parameters. Each summary states the meaning for each scheme.
    package static let members: [Member] = {
        var listed = [Member("scheme", .word(schemes), "decides which of the other members there are")]
        for scheme in Scheme.allCases {
            for member in scheme.fields.members where !listed.contains(where: { $0.isNamed(like: member) }) {
                listed.append(Member(member.name, member.schema, Scheme.uses(of: member), optional: true))
            }
        }
        return listed
    }()

    package static let schema = Schema.reference("Credential")
    static let choiceSchema = Schema.oneOf(Scheme.allCases.map { .closedObject($0.members) })
}

extension Form where Value == Credential.Scheme {
    fileprivate static var scheme: Form {
        Form(
            .word(Credential.schemes),
            "must be one of \(Credential.schemes.joined(separator: ", "))",
            read: { $0.string.flatMap(Credential.Scheme.init(rawValue:)) },
            write: { $1.string($0.rawValue) }
        )
    }
}

extension Credential.Scheme {
    /// Returns the meanings of a member for the schemes that have it: "linkCode: twelve characters".
    fileprivate static func uses(of member: Member) -> String {
        var uses: [(meaning: String, schemes: [String])] = []
        for scheme in allCases {
            for use in scheme.fields.members where use.isNamed(like: member) {
                if let known = uses.firstIndex(where: { $0.meaning == use.summary }) {
                    uses[known].schemes.append(scheme.rawValue)
                } else {
                    uses.append((use.summary, [scheme.rawValue]))
                }
            }
        }
        return uses.map { "\($0.schemes.joined(separator: ", ")): \($0.meaning)" }.joined(separator: "; ")
    }
}

extension Member {
    fileprivate func isNamed(like other: Member) -> Bool { "\(name)" == "\(other.name)" }
}
