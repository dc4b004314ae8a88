import JunctionText

/// The names of an application and of its users in issuer and subject.
enum Name {
    private static let applications = "//rtc.sinch.com/applications/"
    private static let users = "/users/"

    static func application(_ key: String) -> String { applications + key }

    static func user(_ id: String, of applicationKey: String) -> String { applications + applicationKey + users + id }

    /// Returns the application key of an issuer.
    static func application(in issuer: String) -> String? {
        guard issuer.hasPrefix(applications) else { return nil }
        let key = String(issuer.dropFirst(applications.count))
        return isApplicationKey(key) ? key : nil
    }

    /// Returns the application key and the user id of a subject. A user id may contain slashes, but a key may not.
    static func user(in subject: String) -> (applicationKey: String, userId: String)? {
        guard subject.hasPrefix(applications) else { return nil }
        let rest = subject.dropFirst(applications.count)
        guard let end = rest.firstIndex(of: "/"), rest[end...].hasPrefix(users) else { return nil }
        let key = String(rest[..<end])
        let id = String(rest[end...].dropFirst(users.count))
        return isApplicationKey(key) && isUserId(id) ? (key, id) : nil
    }

    static func isUserId(_ text: String) -> Bool {
        (1...RegistrationToken.longestUserId).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisibleASCII)
    }

    static func isApplicationKey(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "/") }
    }
}

/// The name of the day's key in a header.
struct KeyId: Equatable, Sendable {
    private static let prefix = "hkdfv1-"

    let text: String

    init(_ day: UTCDay) {
        text = Self.prefix + day.digits
    }

    /// Reads the key id of a header; `nil` if it does not have the form of one.
    init?(reading text: String) {
        let date = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard text.hasPrefix(Self.prefix), date.count == 8, date.allSatisfy(\.isASCIIDigit) else { return nil }
        self.text = text
    }
}
