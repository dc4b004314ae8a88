import JunctionJSON

/// The OpenAPI 3.1 description of the daemon's HTTP pages. It is made from the same lists of fields that write the
/// answers.
package struct OpenAPIDocument: Sendable {
    private let version: String

    /// Makes the description for a daemon of this version.
    package init(version: String) {
        self.version = version
    }

    package func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 1 << 14)
        writer.object { writer in
            writer.member("openapi", "3.1.0")
            writer.object("info") { writer in
                writer.member("title", "junctiond")
                writer.member("version", version)
                writer.member("description", Self.description)
                writer.object("license") { writer in
                    writer.member("name", "Apache-2.0")
                    writer.member("identifier", "Apache-2.0")
                }
            }
            writer.array("servers") { writer in
                writer.object { writer in
                    writer.member("url", "http://junction")
                    writer.member("description", "A Unix socket: curl --unix-socket PATH http://junction/…")
                }
            }
            writer.object("paths") { writer in
                for page in HTTPPage.allCases { Self.write(page, to: &writer) }
            }
            writer.object("components") { writer in
                writer.object("schemas") { Self.writeSchemas(to: &$0) }
            }
        }
        return writer.take()
    }

    private static let description = """
        HTTP/1.1 over a Unix socket; the Host is junction. Every path that does not begin with /.junction/ is one of the \
        provider's API, called as the signed-in user with the credential added, as far as it is that user's own; a segment \
        ':userId' or '{userId}' stands for the user's id. An error of the daemon's own has the header Junction-Error with its \
        kind, and a body of application/problem+json. x-capability is what the caller must be allowed to do.
        """

    private static func write(_ page: HTTPPage, to writer: inout JSONWriter) {
        writer.key(page.path)
        writer.object { writer in
            writer.object("get") { writer in
                writer.member("operationId", page.operation)
                writer.member("summary", page.summary)
                if let capability = page.method.capability { writer.member("x-capability", capability.rawValue) }
                writeParameters(of: page, to: &writer)
                writer.object("responses") { writer in
                    writer.key("200")
                    writer.object { writer in
                        writer.member("description", page.summary)
                        writeContent(page.mediaType, page.schema, to: &writer)
                    }
                    writer.object("default") { writer in
                        writer.member("description", "An error of the daemon's own")
                        writer.object("headers") { writer in
                            write("Junction-Error", "its kind", to: &writer)
                            write("Retry-After", "how many seconds to wait before asking again", to: &writer)
                        }
                        writeContent("application/problem+json", Problem.schema, to: &writer)
                    }
                }
            }
        }
    }

    private static func writeContent(_ mediaType: String, _ schema: Schema, to writer: inout JSONWriter) {
        writer.object("content") { writer in
            writer.key(mediaType)
            writer.object { $0.member("schema", schema) }
        }
    }

    private static func write(_ header: String, _ summary: String, to writer: inout JSONWriter) {
        writer.key(header)
        writer.object { writer in
            writer.member("description", summary)
            writer.member("schema", Schema.string)
        }
    }

    private static func writeParameters(of page: HTTPPage, to writer: inout JSONWriter) {
        let query = page.query
        guard page.isGuarded || !query.isEmpty else { return }
        writer.array("parameters") { writer in
            if page.isGuarded {
                writer.object { writer in
                    writer.member("name", HTTPPage.guardHeader)
                    writer.member("in", "header")
                    writer.member("required", true)
                    writer.member("description", "Shows that the caller meant this request for the daemon")
                    writer.member("schema", Schema.word([HTTPPage.guardValue]))
                }
            }
            for member in query {
                writer.object { writer in
                    writer.member("name", "\(member.name)")
                    writer.member("in", "query")
                    writer.member("description", member.summary)
                    writer.member("schema", member.schema)
                }
            }
        }
    }

    private static func writeSchemas(to writer: inout JSONWriter) {
        writer.member("Snapshot", .object(Snapshot.fields.members))
        writer.member("AccessToken", .object(AccessToken.fields.members))
        writer.member("Problem", .object(Problem.fields.members))
    }
}

extension HTTPPage {
    /// The name of the page, without the ending.
    fileprivate var operation: String { String(rawValue.prefix { $0 != "." }) }

    /// The parameters of the query, which are those of the page's method.
    fileprivate var query: [Member] {
        switch self {
        case .token: TokenGet.Params.members
        case .events: SessionSubscribe.Params.members
        case .status, .metrics, .openapi: []
        }
    }

    /// The media type without its parameters.
    fileprivate var mediaType: String { String(contentType.prefix { $0 != ";" }) }

    fileprivate var schema: Schema {
        switch self {
        case .status: Snapshot.schema
        case .token: .reference("AccessToken")
        case .metrics, .events: .string
        case .openapi: .object([])
        }
    }
}
