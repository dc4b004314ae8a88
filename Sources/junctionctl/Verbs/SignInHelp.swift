import ArgumentParser

/// The help page of `sign-in`: first the options of the daemon's provider, then those of other providers.
enum SignInHelp {
    /// Arranges the page.
    ///
    /// - Parameter page: the text of the argument parser, with one section for each group of providers.
    static func arranged(_ page: String, for provider: Provider) -> String {
        var (before, own, others, after): ([Substring], [Substring], [Substring], [Substring]) = ([], [], [], [])
        for section in page.split(separator: "\n\n", omittingEmptySubsequences: false) {
            if let providers = providers(of: section) {
                let options = section.drop { $0 != "\n" }.dropFirst()
                if providers.contains(provider) { own.append(options) } else { others.append(options) }
            } else if own.isEmpty, others.isEmpty {
                before.append(section)
            } else {
                after.append(section)
            }
        }
        guard !own.isEmpty else { return page }
        let options = [
            "\(provider.name.uppercased()):\n" + own.joined(separator: "\n"),
            "OTHER PROVIDERS:\n" + others.joined(separator: "\n"),
        ]
        return (before.map(String.init) + options + after.map(String.init)).joined(separator: "\n\n")
    }

    /// Whether the text is the help page of `sign-in`.
    static func isMeant(by page: String) -> Bool { page.contains("USAGE: junctionctl sign-in ") }

    private static func providers(of section: Substring) -> [Provider]? {
        guard let end = section.firstIndex(of: ":"), section[end...].hasPrefix(":\n") else { return nil }
        let names = section[..<end].split(separator: ", ")
        let providers = names.compactMap { name in Provider.allCases.first { $0.name.uppercased() == name } }
        return providers.count == names.count ? providers : nil
    }
}

extension GlobalOptions {
    /// Returns the daemon's provider, if the daemon answers within a second. Only `--socket` and `--instance` are read
    /// from the command line, which asks for help and was not parsed as a whole.
    static func provider(whoCalls words: ArraySlice<String>) -> Provider? {
        var chosen: [String] = []
        for name in ["--socket", "--instance"] {
            if let option = words.firstIndex(of: name) { chosen += words[option...].prefix(2) }
            if let option = words.first(where: { $0.hasPrefix(name + "=") }) { chosen.append(option) }
        }
        return try? parse(chosen + ["--timeout", "1"]).provider()
    }
}
