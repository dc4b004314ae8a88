import JunctionProtocol
import Testing

@testable import junctionctl

/// The text that a bundle hides, and the text that it keeps.
struct RedactionTests {
    @Test(arguments: [
        "proxy http://kiosk:p4ss@proxy.example.com:3128 refuses":
            "proxy http://(hidden)@proxy.example.com:3128 refuses",
        "http://a:b@c@proxy/": "http://(hidden)@proxy/",
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln is dead": "token (hidden) is dead",
        "key sk_us_abc": "key (hidden)",
        "user 0b5c2ad4-5f3a-4f0e-9d2d-6d1b6f3f6f10": "user (hidden)",
        "anna is signed in": "(hidden) is signed in",
        "deadbeefdeadbeefdeadbeefdeadbeef": "(hidden)",
    ])
    func `credentials, tokens, ids and the user are hidden`(text: String, shown: String) {
        #expect(Redaction(privateWords: ["anna"]).of(text) == shown)
    }

    @Test(arguments: [
        "/etc/junctiond/junctiond.toml:3: unknown key \"prvider\"", "https://tokens.eu.example-company.com/v1/token",
        "junctiond-courier@4-1234-994.service: ActiveState=active", "2026-11-21T06:20:34Z",
        "No answer from ocra.api.sinch.com within 10 s", "systemctl enable junctiond.service", "providerUnavailable",
        "LoadCredentialEncrypted=junctiond.key", "junction-online.service: Result=success",
    ])
    func `messages without private text are unchanged`(text: String) {
        #expect(Redaction().of(text) == text)
    }

    @Test(arguments: [
        "proxy user:SECRET@proxy.example:80 refuses": "proxy (hidden)@proxy.example:80 refuses",
        "http://user:SE'CR<E\"T@proxy.example:80/x": "http://(hidden)@proxy.example:80/x",
        "http://user:SEC/RET@proxy": "http://(hidden)@proxy", "user:SEC://RET@proxy": "(hidden)@proxy",
        "cr\r\nuser:SECRET@proxy": "cr\r\n(hidden)@proxy",
    ])
    func `credentials are hidden, with and without a scheme`(text: String, shown: String) {
        #expect(Redaction().of(text) == shown)
    }

    @Test(arguments: [
        "User anna.smith is signed in": "User (hidden) is signed in",
        "x.service: ActiveState=active \"User anna smith is signed in, and the token has expired\"":
            "x.service: ActiveState=active \"User (hidden) is signed in, and the token has expired\"",
        "User x is signed in is signed in; y": "User (hidden) is signed in; y",
        "for root, user and group alike": "for root, user and group alike",
        "note     session: User anna@example.com was terminated\n         ask anew":
            "note     session: User (hidden)\n         ask anew",
    ])
    func `the user in the daemon's sentences is hidden without knowing the id`(text: String, shown: String) {
        #expect(Redaction().of(text) == shown)
    }

    @Test(arguments: [
        (["q"], "session of q: q is queued (q), q.", "session of (hidden): (hidden) is queued ((hidden)), (hidden)."),
        (["7"], "7 of 17 in 7s", "(hidden) of 17 in 7s"), (["é"], "é été", "(hidden) été"),
        (["an", "anna"], "an anna annals", "(hidden) (hidden) (hidden)ls"), (["a\nb"], "a b a\nb", "(hidden) (hidden)"),
        ([""], "as it is", "as it is"),
    ])
    func `an id of one or two characters is hidden only as a word of its own`(
        ids: [String],
        text: String,
        shown: String
    ) {
        #expect(Redaction(privateWords: ids).of(text) == shown)
    }
}
