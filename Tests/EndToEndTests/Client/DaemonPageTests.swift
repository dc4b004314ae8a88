import Foundation
import JunctionTesting
import Testing

/// Tests of the HTTP pages with the daemon's own data.
@Suite(.needsCurl)
struct DaemonPageTests {
    @Test func `the event stream starts with the present state and reports the sign-out`() throws {
        let installation = try Installation.withHTTP()
        try installation.signInNewUser()
        let listener = try installation.api().listen("/.junction/events")
        #expect(try Self.event(listener).state == "established")

        try installation.signOut()

        var state = ""
        while state != "notLoggedIn" { state = try Self.event(listener).state }
        try installation.stopDaemon()
        // An orderly end: curl received the last chunk of the body.
        #expect(try listener.program.wait().status == 0)
    }

    /// Reads the next server-sent event.
    static func event(_ listener: RunningProgram) throws -> Object {
        let lines = try (0..<3).map { _ in try #require(try listener.lines.next(), "\(listener.program.errors)") }
        #expect(lines[0] == "event: snapshot")
        #expect(lines[2] == "")
        let data = try #require(lines[1].hasPrefix("data: ") ? lines[1].dropFirst("data: ".count) : nil)
        return try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? Object)
    }

    @Test func `the description lists every page, and every page exists`() throws {
        let installation = try Installation.withHTTP()
        let guide = try Guide.text(of: "docs/http.md")
        let rows = guide.matches(of: #/\| `(/\.junction/[a-z.]+)` \|/#).map { String($0.1) }

        let answer = try installation.api().ask("/.junction/openapi.json")
        let document = try answer.json()

        #expect(answer.headers["content-type"] == "application/json")
        #expect(document["openapi"] as? String == "3.1.0")
        let paths = try #require(document["paths"] as? Object)
        #expect(Set(paths.keys) == Set(rows))
        for path in paths.keys where !path.hasSuffix("/events") {
            #expect(try installation.api().ask(path, "-H", "Junction-Local: true").kind != "methodNotFound", "\(path)")
        }
        let none = try installation.api().ask("/.junction/other")
        #expect(none.status == 404)
        #expect(none.kind == "methodNotFound")
        for path in paths.keys { #expect(none.text.contains(path)) }
    }
}
