/// What the browser shows of our answer to it.
struct AnswerPage {
    private let status: String
    private let title: String
    private let text: String
    /// Where the browser is sent on to, if it is.
    private var location: String?

    /// The page for a redirect; nothing while it has not come whole.
    ///
    /// - Parameter page: the provider's, for a browser that was opened here.
    init?(for redirect: Redirect, to page: String?) {
        switch redirect {
        case .incomplete: return nil
        case .start where page != nil:
            self.init("302 Found", "Sign in", "The provider's page opens.")
            location = page
        case .code: self.init("200 OK", "Thank you", "The sign-in goes on in the terminal. You may close this window.")
        case .refused: self.init("200 OK", "Not signed in", "The terminal says why. You may close this window.")
        case .start, .foreign(.otherPath):
            self.init("404 Not Found", "Nothing here", "A sign-in is awaited at this port.")
        case .foreign(.otherMethod): self.init("405 Method Not Allowed", "Not so", "A browser is awaited here.")
        case .foreign(.otherState):
            self.init("400 Bad Request", "Another sign-in", "Use the page that was opened last.")
        case .foreign(.otherUser):
            self.init("403 Forbidden", "Another user", "Only the user who signs in on this machine may come here.")
        case .foreign(.unreadable): self.init("400 Bad Request", "Not understood", "A browser is awaited here.")
        }
    }

    private init(_ status: String, _ title: String, _ text: String) {
        (self.status, self.title, self.text) = (status, title, text)
    }

    /// The whole of it. Nothing in it came from outside but the address of the provider's page, and nobody is told the address
    /// that has the code.
    var response: String {
        let body = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>\(title)</title>\
            <h1>\(title)</h1><p>\(text)</p></html>

            """
        let head = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8", "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'",
            "Connection: close",
        ]
        let redirection = location.map { ["Location: \($0)"] } ?? []
        return (head + redirection + ["", ""]).joined(separator: "\r\n") + body
    }
}
