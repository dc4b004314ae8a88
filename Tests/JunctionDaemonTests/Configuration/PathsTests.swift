import JunctionDaemon
import Testing

@Suite struct PathsTests {
    @Test func `without flags and environment the usual places are taken`() throws {
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
            // The XDG rule: a path that is not absolute is to be ignored.
            (["XDG_STATE_HOME": "state", "HOME": "home"], "/home/kiosk/.local/state/junctiond"),
        ]
    )
    func `the state is kept where the nearest authority says`(variables: [String: String], expected: String) throws {
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
    func `the socket is where the nearest authority says`(variables: [String: String], expected: String) throws {
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
    func `a configuration in the service manager's directory need not be there`(
        variables: [String: String],
        expected: String
    ) throws {
        let paths = try Paths(Arguments(), variables: variables, home: "/")

        #expect(paths.configuration == expected)
        #expect(!paths.configurationMustExist)
    }

    @Test func `a configuration that was named comes before the service manager's directory`() throws {
        let variables = ["CONFIGURATION_DIRECTORY": "/a", "JUNCTIOND_CONFIG": "/b.toml"]

        #expect(try Paths(Arguments(), variables: variables, home: "/").configuration == "/b.toml")
        let flagged = try Paths(Arguments(configuration: "c.toml"), variables: variables, home: "/")
        #expect(flagged.configuration == "c.toml")
    }

    @Test func `a configuration that somebody named has to be there`() throws {
        let byVariable = try Paths(Arguments(), variables: ["JUNCTIOND_CONFIG": "/a.toml"], home: "/")
        let byFlag = try Paths(Arguments(configuration: "b.toml"), variables: ["JUNCTIOND_CONFIG": "/a"], home: "/")

        #expect(byVariable.configuration == "/a.toml")
        #expect(byVariable.configurationMustExist)
        #expect(byFlag.configuration == "b.toml")
        #expect(byFlag.configurationMustExist)
    }

    @Test func `a path means the same to whoever is elsewhere`() {
        #expect(Paths.absolute("/etc/j.toml") == "/etc/j.toml")
        #expect(Paths.absolute("j.toml").hasPrefix("/"))
        #expect(Paths.absolute("j.toml").hasSuffix("/j.toml"))
    }

    @Test func `without any home the state needs a place to be named`() {
        let error = #expect(throws: ConfigurationError.self) { try Paths(Arguments(), variables: [:], home: nil) }

        #expect(error?.description.contains("--state-dir") == true)
    }
}
