import JunctionProviders
import JunctionText
import JunctionToml

/// Reads one kind of setting, and describes the error if the value is wrong.
struct SettingKind<Value> {
    let read: (SettingValue) throws(SettingMismatch) -> Value
    /// Converts the text of an environment variable to the value that a file would have.
    let spelledOut: (String) -> SettingValue

    init(
        spelledOut: @escaping (String) -> SettingValue = SettingValue.string,
        _ read: @escaping (SettingValue) throws(SettingMismatch) -> Value
    ) {
        self.read = read
        self.spelledOut = spelledOut
    }

    /// Creates a kind whose error has only the expected and the found value.
    ///
    /// - Parameter names: the possible names, from which the error suggests the nearest one.
    init(
        _ expected: String,
        spelledOut: @escaping (String) -> SettingValue = SettingValue.string,
        names: [String] = [],
        _ read: @escaping (SettingValue) -> Value?
    ) {
        self.init(spelledOut: spelledOut) { (value) throws(SettingMismatch) in
            guard let result = read(value) else {
                throw SettingMismatch(message: "expected \(expected), found \(value.named(among: names))")
            }
            return result
        }
    }
}

struct SettingMismatch: Error {
    /// The expected and the found value.
    let message: String
}

extension SettingValue {
    /// The value as an error about a name names it. A text is repeated only if it resembles one of the possible words.
    /// Other text may be a secret in the wrong place.
    ///
    /// - Parameter words: the possible words.
    func named(among words: [String]) -> String {
        guard case .string(let text) = self, let meant = Spelling.suggestion(for: text, among: words) else {
            return inWords
        }
        return "\"\(text)\": did you mean \"\(meant)\"?"
    }
}

extension SettingKind<Bool> {
    static var boolean: SettingKind {
        let words = ["true": true, "false": false]
        let spelledOut = { (text: String) in words[text].map(SettingValue.boolean) ?? .string(text) }
        return SettingKind("true or false", spelledOut: spelledOut) { value in
            if case .boolean(let truth) = value { truth } else { nil }
        }
    }
}

extension SettingKind<Int> {
    static func wholeNumber(in range: ClosedRange<Int>, of things: String = "") -> SettingKind {
        let expected = "a whole number \(things)from \(range.lowerBound) to \(range.upperBound)"
        let spelledOut = { (text: String) in Int64(text).map(SettingValue.integer) ?? .string(text) }
        return SettingKind(expected, spelledOut: spelledOut) { value in
            guard case .integer(let number) = value, let number = Int(exactly: number) else { return nil }
            return range.contains(number) ? number : nil
        }
    }
}

extension SettingKind<Duration> {
    static func seconds(in range: ClosedRange<Int>) -> SettingKind {
        let number = SettingKind<Int>.wholeNumber(in: range, of: "of seconds ")
        return SettingKind(spelledOut: number.spelledOut) { (value) throws(SettingMismatch) in
            .seconds(try number.read(value))
        }
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable {
    /// One word of an enum.
    static var choice: SettingKind {
        let words = Value.allCases.map(\.rawValue)
        return SettingKind(SettingKind<String>.oneOf(words), names: words) { value in
            if case .string(let text) = value { Value(rawValue: text) } else { nil }
        }
    }
}

extension SettingKind<ProviderSetting.Value> {
    /// Returns the kind for a provider's setting.
    static func kind(_ kind: ProviderSetting.Kind) -> SettingKind {
        switch kind {
        case .text(let expected): text(.text(expected))
        case .word(let words): text(.word(of: words))
        case .flag: text(.flag)
        case .hostName: text(.hostName)
        case .url: text(.url)
        case .endpoint: text(.endpoint)
        case .secretFile: text(.absolutePath)
        case .words(let expected): words(expected)
        }
    }

    private static func text(_ kind: SettingKind<String>) -> SettingKind {
        SettingKind(spelledOut: kind.spelledOut) { (value) throws(SettingMismatch) in .text(try kind.read(value)) }
    }

    /// In an environment variable, blanks separate the words.
    private static func words(_ expected: String) -> SettingKind {
        let spelledOut = { (text: String) in
            SettingValue.list(text.split(separator: " ").map { Setting(value: .string(String($0)), line: 0) })
        }
        let list = SettingKind<[String]>.list(of: expected, spelledOut: spelledOut) { word in
            !word.isEmpty && word.utf8.allSatisfy(\.isVisibleASCII)
        }
        return SettingKind(spelledOut: spelledOut) { (value) throws(SettingMismatch) in .list(try list.read(value)) }
    }
}

extension SettingKind<[String]> {
    /// A list of texts that each fulfil a condition. The error names the first one that does not.
    static func list(
        of expected: String,
        spelledOut: @escaping (String) -> SettingValue,
        where isPossible: @escaping (String) -> Bool
    ) -> SettingKind {
        SettingKind(spelledOut: spelledOut) { (value) throws(SettingMismatch) in
            guard case .list(let settings) = value else {
                throw SettingMismatch(message: "expected a list of \(expected), found \(value.inWords)")
            }
            var words: [String] = []
            for (index, setting) in settings.enumerated() {
                guard case .string(let word) = setting.value, isPossible(word) else {
                    let found = "item \(index + 1) is \(setting.value.inWords)"
                    throw SettingMismatch(message: "expected a list of \(expected); \(found)")
                }
                words.append(word)
            }
            return words
        }
    }
}

extension SettingKind<String> {
    /// A boolean that is stored as text.
    fileprivate static var flag: SettingKind {
        let boolean = SettingKind<Bool>.boolean
        return SettingKind(spelledOut: boolean.spelledOut) { (value) throws(SettingMismatch) in
            try boolean.read(value) ? "true" : "false"
        }
    }

    /// One of a few words that are known only at run time.
    static func word(of words: [String]) -> SettingKind {
        SettingKind(oneOf(words), names: words) { value in
            if case .string(let text) = value, words.contains(text) { text } else { nil }
        }
    }

    fileprivate static func oneOf(_ words: [String]) -> String {
        "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Any text on one line.
    static func text(
        _ expected: String,
        where isPossible: @escaping (String) -> Bool = { _ in true }
    ) -> SettingKind {
        SettingKind(expected) { value in
            guard case .string(let text) = value, !text.isEmpty, isPossible(text) else { return nil }
            return text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text
        }
    }

    /// An absolute path, so that the working directory of the daemon does not matter.
    static var absolutePath: SettingKind {
        text("an absolute path, such as \"/etc/junctiond/ca.pem\"") { $0.hasPrefix("/") }
    }

    /// An absolute path that fits into the address of a socket (unix(7)).
    static var socketPath: SettingKind {
        text("an absolute path of at most 107 bytes") { $0.hasPrefix("/") && $0.utf8.count <= 107 }
    }

    static var hostName: SettingKind {
        text("a host name without scheme, port and path") { name in
            !name.contains("/") && !name.contains(":") && (try? HTTPOrigin("https://" + name)) != nil
        }
    }

    /// The origin of a provider that is not at its default host. It is stored as written.
    static var url: SettingKind {
        url { (text) throws(ProviderConfigurationFault) in _ = try HTTPOrigin(text) }
    }

    /// A URL that may have a query.
    fileprivate static var endpoint: SettingKind {
        url { (text) throws(ProviderConfigurationFault) in _ = try HTTPURL(text) }
    }

    private static func url(
        _ check: @escaping (String) throws(ProviderConfigurationFault) -> Void
    ) -> SettingKind {
        let text = text("a URL")
        return SettingKind { (value) throws(SettingMismatch) in
            let url = try text.read(value)
            do throws(ProviderConfigurationFault) {
                try check(url)
            } catch {
                throw SettingMismatch(message: error.message)
            }
            return url
        }
    }
}
