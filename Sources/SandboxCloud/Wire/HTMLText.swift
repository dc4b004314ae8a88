/// Text on its way into a page.
enum HTMLText {
    /// The text with nothing in it that a browser would take for a tag or for the end of an attribute.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
