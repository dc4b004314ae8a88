import Foundation
import Testing

@testable import SandboxCloud

/// Tests of the page without a browser. `Tests/Page` uses one.
@Suite struct PageTests {
    private static let files = ["/", "/sandbox/page/page.css", "/sandbox/page/page.js", "/sandbox/page/icon.svg"]

    @Test func `every file of the page has a policy that blocks foreign content`() async throws {
        try await Sandbox.run { sandbox in
            for path in Self.files {
                let answer = try await sandbox.get(path)

                let policy = try #require(answer.headers["content-security-policy"])
                #expect(answer.status == 200)
                #expect(policy.hasPrefix("default-src 'none';"))
                #expect(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains("data:"))
                #expect(answer.headers["x-content-type-options"] == "nosniff")
            }
            #expect(try await sandbox.get("/").headers["content-type"] == "text/html; charset=utf-8")
            #expect(try await sandbox.counters().requests == 0)
        }
    }

    @Test func `the page loads nothing from other origins and has no inline code`() {
        let html = String(decoding: PackageResources.page_html, as: UTF8.self)
        let rest = String(decoding: PackageResources.page_css + PackageResources.page_js, as: UTF8.self)

        #expect(html.matches(of: /<script(?! src="\/sandbox\/page\/)/).isEmpty)
        #expect(html.matches(of: /\s(on[a-z]+|style)=/).isEmpty)
        #expect(html.matches(of: /(src|href)="(?![\/#])/).isEmpty)
        #expect(
            rest.matches(of: /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|@import|\burl\(/).isEmpty
        )
    }

    @Test func `the page has a control for every property of a fault`() throws {
        let html = String(decoding: PackageResources.page_html, as: UTF8.self)
        let buttons = html.matches(of: /data-fault='([^']*)'/).map { String($0.output.1) }
        let faults = try buttons.map { text in
            try JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
        }

        // Separate fields select the requests and their number. The method is only in the free-text fault.
        let chosen: Set<String> = ["match", "grant", "times", "method"]
        let known = Set(Mirror(reflecting: Fault(match: "/")).children.compactMap(\.label))
        #expect(faults.reduce(into: chosen) { $0.formUnion($1.keys) } == known)
        #expect(faults.contains { $0["drop"] == "before" } && faults.contains { $0["drop"] == "after" })
        #expect(chosen.allSatisfy { html.contains("\"\($0)\":") || html.contains("id=\"\($0)\"") })
    }

    @Test func `the page has a text for every event of a login`() {
        let script = String(decoding: PackageResources.page_js, as: UTF8.self)

        #expect(LoginEvents.Kind.allCases.allSatisfy { script.contains("  \($0.rawValue): (") })
    }

    @Test func `the overview shows the users and logins of every vendor`() async throws {
        try await Sandbox.run { sandbox in
            _ = try await sandbox.signIn(try await sandbox.user("<script>anna</script>"))
            _ = try await sandbox.post(
                "/api/v5/sessions",
                ["userId": "bert", "deviceId": "d1"],
                headers: ["X-API-Key": "key"]
            )
            let token = try await sandbox.post("/sandbox/sinch/users/carl/registration-token")
            _ = try await sandbox.post(
                "/v1/instance",
                [
                    "applicationKey": .string(SinchApplication.published.key), "userId": "carl", "deviceId": "d2",
                    "jwt": try #require(token.json["registrationToken"]),
                ]
            )
            _ = try await sandbox.post("/sandbox/oauth/users", ["name": "dora"])
            _ = try await sandbox.post("/sandbox/oauth/users/dora/tokens")

            let overview = try await sandbox.get("/sandbox/overview").json

            let vendors = try #require(overview["vendors"]?.elements)
            #expect(vendors.map { $0["vendor"] } == ["junction", "social", "sinch", "oauth"])
            let users = try #require(overview["users"]?.elements)
            #expect(users.map { $0["vendor"] } == vendors.map { $0["vendor"] })
            #expect(users.map { $0["name"] } == ["<script>anna</script>", "bert", "carl", "dora"])
            let logins = try #require(overview["logins"]?.elements)
            #expect(logins.map { $0["user"] } == users.map { $0["name"] })
            #expect(logins.allSatisfy { $0["isAlive"] == .bool(true) })
            #expect(vendors.allSatisfy { $0["configuration"]?.string?.contains("127.0.0.1") == true })
        }
    }

    @Test func `an open page receives a change, and the data contains no token`() async throws {
        try await Sandbox.run { sandbox in
            let page = try sandbox.client.start("GET", "/sandbox/events")
            let empty = try await page.read(until: "\n\n")

            let tokens = try await sandbox.signIn(try await sandbox.user("anna"))
            let news = try await page.read(until: TokenText.fingerprint(tokens.refresh).prefix(8) + "\"")

            #expect(empty.contains("text/event-stream"))
            #expect(news.contains("opened"))
            #expect(!news.contains(tokens.refresh) && !news.contains(tokens.access))
        }
    }
}
