/// The page that the listener returns to the browser.
struct AnswerPage {
    private let status: String
    private let title: String
    private let text: String
    /// The target of a redirect, if there is one.
    private var location: String?

    /// Returns the page for a request, or nil while the request is incomplete.
    ///
    /// - Parameter page: the provider's page, if this program opened the browser.
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

    /// The whole response. Only the address of the provider's page comes from outside. `Referrer-Policy` keeps the
    /// address with the code from other sites.
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
