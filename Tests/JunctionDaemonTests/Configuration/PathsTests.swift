import Testing

@testable import JunctionDaemon

@Suite struct PathsTests {
    @Test func `the default paths apply without flags and environment`() throws {
        let paths = try Paths(Arguments(), variables: [:], home: "/home/kiosk")

        #expect(paths.configuration == "/etc/junctiond/junctiond.toml")
        #expect(!paths.configurationMustExist)
        #expect(paths.socket == "/run/junctiond/junctiond.sock")
        #expect(paths.stateDirectory == "/home/kiosk/.local/state/junctiond")
    }

    @Test(
        arguments: [
            (["HOME": "/root"], "/root/.local/state/junctiond"),
            (["HOME": "/root", "XDG_STATE_HOME": "/state"], "/state/junctiond"),
            (["XDG_STATE_HOME": "/state", "STATE_DIRECTORY": "/var/lib/junctiond"], "/var/lib/junctiond"),
            (["STATE_DIRECTORY": "/var/lib/junctiond:/var/lib/b"], "/var/lib/junctiond"),
            (["STATE_DIRECTORY": "/var/lib/junctiond", "JUNCTIOND_STATE_DIR": "/own"], "/own"),
            (["STATE_DIRECTORY": "", "JUNCTIOND_STATE_DIR": "", "HOME": "/root"], "/root/.local/state/junctiond"),
            // The XDG Base Directory Specification: ignore a path that is not absolute.
            (["XDG_STATE_HOME": "state", "HOME": "home"], "/home/kiosk/.local/state/junctiond"),
        ]
    )
    func `the state directory is that of the flag, the daemon's variable, systemd or XDG`(
        variables: [String: String],
        expected: String
    ) throws {
        #expect(try Paths(Arguments(), variables: variables, home: "/home/kiosk").stateDirectory == expected)

        let flagged = try Paths(Arguments(stateDirectory: "here"), variables: variables, home: "/home/kiosk")
        #expect(flagged.stateDirectory == "here")
    }

    @Test(
        arguments: [
            (["XDG_RUNTIME_DIR": "/run/user/1000"], "/run/user/1000/junctiond/junctiond.sock"),
            (["XDG_RUNTIME_DIR": "run"], "/run/junctiond/junctiond.sock"),
            (["XDG_RUNTIME_DIR": "/run/user/1000", "JUNCTIOND_SOCKET": "/own.sock"], "/own.sock"),
        ]
    )
    func `the socket is that of the flag, the daemon's variable or XDG`(variables: [String: String], expected: String)
        throws
    {
        #expect(try Paths(Arguments(), variables: variables, home: "/").socket == expected)

        let flagged = try Paths(Arguments(socket: "flag.sock"), variables: variables, home: "/")
        #expect(flagged.socket == "flag.sock")
    }

    @Test(
        arguments: [
            (
                ["CONFIGURATION_DIRECTORY": "/home/kiosk/.config/junctiond"],
                "/home/kiosk/.config/junctiond/junctiond.toml"
            ),
            (["CONFIGURATION_DIRECTORY": "/a:/b"], "/a/junctiond.toml"),
            (["CONFIGURATION_DIRECTORY": ""], "/etc/junctiond/junctiond.toml"),
        ]
    )
    func `a configuration in CONFIGURATION_DIRECTORY may be missing`(
        variables: [String: String],
        expected: String
    ) throws {
        let paths = try Paths(Arguments(), variables: variables, home: "/")

        #expect(paths.configuration == expected)
        #expect(!paths.configurationMustExist)
    }

    @Test func `a named configuration has priority over CONFIGURATION_DIRECTORY`() throws {
        let variables = ["CONFIGURATION_DIRECTORY": "/a", "JUNCTIOND_CONFIG": "/b.toml"]

        #expect(try Paths(Arguments(), variables: variables, home: "/").configuration == "/b.toml")
        let flagged = try Paths(Arguments(configuration: "c.toml"), variables: variables, home: "/")
        #expect(flagged.configuration == "c.toml")
    }

    @Test func `a configuration that a flag or a variable names must exist`() throws {
        let byVariable = try Paths(Arguments(), variables: ["JUNCTIOND_CONFIG": "/a.toml"], home: "/")
        let byFlag = try Paths(Arguments(configuration: "b.toml"), variables: ["JUNCTIOND_CONFIG": "/a"], home: "/")

        #expect(byVariable.configuration == "/a.toml")
        #expect(byVariable.configurationMustExist)
        #expect(byFlag.configuration == "b.toml")
        #expect(byFlag.configurationMustExist)
    }

    @Test func `a named instance has its own configuration, folder, socket and state`() throws {
        let variables = ["JUNCTIOND_INSTANCE": "work", "XDG_RUNTIME_DIR": "/run/user/1000"]

        let paths = try Paths(Arguments(), variables: variables, home: "/home/kiosk")

        #expect(paths.configuration == "/etc/junctiond/work.toml")
        #expect(paths.configurationMustExist)
        #expect(paths.configurationSource(variables: [:]).folder == "work.conf.d")
        #expect(paths.socket == "/run/user/1000/junctiond/work.sock")
        #expect(paths.stateDirectory == "/home/kiosk/.local/state/junctiond@work")
    }

    @Test func `the instance junctiond and an empty name are the plain installation`() throws {
        for name in ["junctiond", ""] {
            let paths = try Paths(Arguments(), variables: ["JUNCTIOND_INSTANCE": name], home: "/home/kiosk")

            #expect(paths == (try Paths(Arguments(), variables: [:], home: "/home/kiosk")))
        }
    }

    @Test func `an invalid name of an instance is refused, and the error says what is allowed`() {
        let error = #expect(throws: ConfigurationError.self) {
            try Paths(Arguments(), variables: ["JUNCTIOND_INSTANCE": "../secret"], home: "/")
        }

        #expect(error?.description.contains("JUNCTIOND_INSTANCE: the name of an instance has 1 to 64 letters") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `a relative path becomes absolute`() {
        #expect(Paths.absolute("/etc/j.toml") == "/etc/j.toml")
        #expect(Paths.absolute("j.toml").hasPrefix("/"))
        #expect(Paths.absolute("j.toml").hasSuffix("/j.toml"))
    }

    @Test func `without a home directory the error asks for --state-dir`() {
        let error = #expect(throws: ConfigurationError.self) { try Paths(Arguments(), variables: [:], home: nil) }

        #expect(error?.description.contains("--state-dir") == true)
    }
}

extension Paths {
    fileprivate init(
        _ arguments: Arguments,
        variables: [String: String],
        home: String?,
        executable: String? = nil
    ) throws(ConfigurationError) {
        let environment = ProcessEnvironment(variables: variables, processID: 1, home: home, executable: executable)
        try self.init(arguments, in: environment)
    }
}
