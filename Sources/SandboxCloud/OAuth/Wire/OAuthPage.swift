import Hummingbird

/// The HTML pages on which a user signs in and decides.
enum OAuthPage {
    /// Returns a form that asks for the user's name and decision.
    ///
    /// - Parameters:
    ///   - hidden: Fields that the form sends back unchanged.
    ///   - userCode: The initial text of the field for a device's code. `nil` if the form has no such field.
    static func decision(
        title: String,
        text: String,
        action: String,
        hidden: [(name: String, value: String)] = [],
        userCode: String? = nil
    ) -> Response {
        let kept = hidden.map { field in
            #"<input type="hidden" name="\#(HTMLText.escaped(field.name))" value="\#(HTMLText.escaped(field.value))">"#
        }
        let code = userCode.map { code in
            #"<p><label>Code <input name="user_code" value="\#(HTMLText.escaped(code))" autocomplete="off"></label></p>"#
        }
        return page(
            title,
            """
            <p>\(HTMLText.escaped(text))</p>
            <form method="post" action="\(action)">
            \(kept.joined(separator: "\n"))
            \(code ?? "")
            <p><label>Sign in as <input name="user" autocomplete="username"></label></p>
            <p><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></p>
            </form>
            """,
            status: .ok
        )
    }

    static func message(_ title: String, _ text: String, status: HTTPResponse.Status) -> Response {
        page(title, "<p>\(HTMLText.escaped(text))</p>", status: status)
    }

    private static func page(_ title: String, _ body: String, status: HTTPResponse.Status) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(HTMLText.escaped(title))</title>
            <style>body { font: 16px/1.5 system-ui, sans-serif; max-width: 30rem; margin: 2rem auto; padding: 0 1rem }</style>
            <h1>\(HTMLText.escaped(title))</h1>
            \(body)
            </html>

            """
        return .bytes(Array(html.utf8), status: status, contentType: "text/html; charset=utf-8")
    }
}
