import ArgumentParser
import Glibc
import JunctionClient
import JunctionProtocol

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Prints an access token of the signed-in user, or keeps it in a file.",
        discussion: """
            The daemon first renews the token if necessary. --json also prints its expiry and its user. --header prints \
            a line for curl: 'junctionctl token --header | curl --header @- URL'. The token is then in no argument.
            --output writes the token to a file, which is replaced in one step and which only you can read. With --follow \
            the program writes the file again after each renewal, and removes it at a sign-out and at its own end. It \
            waits for a daemon and a user, and needs the rights status and token.
            """
    )

    @Option(help: ArgumentHelp("How long the token has to be valid at least.", valueName: "seconds"))
    var minValidity: Double?

    @Option(
        help: ArgumentHelp(
            "The form: token (alone), header ('Authorization: Bearer …') or json (the daemon's answer).",
            valueName: "form"
        ),
        completion: .list(TokenFormat.allCases.map(\.rawValue))
    )
    var format: String?

    @Flag(help: "The same as --format header.")
    var header = false

    @Option(
        help: ArgumentHelp("Write the token to this file. Alone, it has no line break.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Flag(help: "Keep the file up to date, until this program ends.")
    var follow = false

    @Option(help: ArgumentHelp("The mode of the file: 0400, 0440, 0600 (the default) or 0640.", valueName: "octal"))
    var mode: String?

    @Option(help: ArgumentHelp("The group of the file.", valueName: "name"))
    var group: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !header || !options.json else { throw ValidationError("--header and --json cannot be combined") }
        guard format == nil || TokenFormat(rawValue: format ?? "") != nil else {
            throw ValidationError("--format is token, header or json")
        }
        guard format == nil || !header && !options.json else {
            throw ValidationError("--format cannot be combined with --header or --json")
        }
        guard output?.isEmpty != true, output?.hasSuffix("/") != true else {
            throw ValidationError("--output takes the name of a file")
        }
        guard output != nil || !follow && mode == nil && group == nil else {
            throw ValidationError("--follow, --mode and --group need --output")
        }
        guard !follow || minValidity == nil else {
            throw ValidationError("--follow and --min-validity cannot be combined")
        }
        if let minValidity { try requireSeconds(minValidity, "--min-validity") }
    }

    private var form: TokenFormat {
        format.flatMap(TokenFormat.init) ?? (options.json ? .json : header ? .header : .token)
    }

    /// Prints the token directly from wiped memory; it never becomes a `String`.
    func run() throws {
        let file = try output.map { path in
            TokenFile(path: path, permissions: try FilePermissions(mode: mode, group: group, in: .ofThisMachine))
        }
        file?.removeLeftovers()
        if let file, follow {
            var feed = TokenFileFeed(file, as: form, options: options)
            return try feed.run()
        }
        let token = try options.ask(TokenGet.self, TokenGet.Params(minimumValidity: minValidity))
        if var file {
            // A caught signal ends the program after the temporary file is removed.
            let signals = try CaughtSignals(SIGINT, SIGTERM, SIGHUP, SIGQUIT)
            defer { signals.release() }
            return try file.replace(with: form.content(token))
        }
        try form.line(token).withUnsafeBytes(StandardOutput.write)
        try StandardOutput.line("")
    }
}
