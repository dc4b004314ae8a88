import FoundationEssentials
import Hummingbird

/// The page at `/`, for a person who wants to see what is going on.
struct OverviewPage: Sendable {
    let junction: JunctionCloud
    let counters: Counters

    func addRoutes(to router: Router<CloudContext>) {
        router.get("/") { _, _ in
            Response.bytes(Array(html.utf8), contentType: "text/html; charset=utf-8")
        }
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta http-equiv="refresh" content="5">
        <title>junction-sandbox</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
        th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #ddd }
        code { font-size: .9em }
        </style>
        <h1>junction-sandbox</h1>
        <p>A stand-in for the cloud, on this machine only. It is driven by the <code>/sandbox</code> endpoints.</p>
        <h2>Users</h2>
        \(table(["user", "known to the team as", "team", "place", "standing", "sign-ins"], users))
        <h2>Counters</h2>
        \(table(["counter", "value"], figures))
        <h2>Endpoints</h2>
        \(table(["endpoint", "requests", "answers"], endpoints))
        </html>

        """
    }

    private var users: [[String]] {
        junction.overview().map { user in
            [
                user.userId, user.clientUserId, user.teamId,
                "\(user.environment.rawValue) \(user.region.rawValue)", user.standing.rawValue, String(user.sessions),
            ]
        }
    }

    private var figures: [[String]] {
        let tally = counters.tally
        return Tally.Counter.allCases.map { [$0.rawValue, String(tally[$0])] }
            + [["mostConcurrentTokenRequests", String(tally.mostConcurrentTokenRequests)]]
    }

    private var endpoints: [[String]] {
        counters.tally.endpoints.sorted { $0.key < $1.key }.map { name, endpoint in
            let answers = endpoint.answers.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
            return [name, String(endpoint.requests), answers.joined(separator: ", ")]
        }
    }

    private func table(_ heads: [String], _ rows: [[String]]) -> String {
        guard !rows.isEmpty else { return "<p>None yet.</p>" }
        let head = heads.map { "<th>\($0)</th>" }.joined()
        let body = rows.map { row in "<tr>" + row.map { "<td>\(HTMLText.escaped($0))</td>" }.joined() + "</tr>" }
        return "<table><tr>\(head)</tr>\n\(body.joined(separator: "\n"))</table>"
    }
}
