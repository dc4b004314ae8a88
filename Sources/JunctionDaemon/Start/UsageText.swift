/// The usage texts of the daemon.
package enum UsageText {
    static let synopsis =
        "USAGE: \(Version.name) [--config <file>] [--socket <path>] [--state-dir <dir>] [--check-config]"

    /// The output of `--help`.
    package static let page = """
        Keeps one user signed in, and shares the session with every local app.

        It stays in the foreground: let the service manager put it in the background.
        Talk to it with junctionctl.

        Every key outside [[access]] can also be set by an environment variable, which
        overrides the file: limits.inFlight by JUNCTIOND_LIMITS_IN_FLIGHT.

        SIGTERM and SIGINT end it in good order; SIGHUP makes it read the configuration
        again.

        Exit codes: 0; 64 usage; 70 internal; 73 the socket or the state cannot be
        created; 75 another instance owns them, or a user or group of the configuration
        cannot be looked up now; 78 configuration.

        \(synopsis)

        OPTIONS:
          --config <file>         The configuration; otherwise junctiond.toml in
                                  $CONFIGURATION_DIRECTORY, otherwise
                                  /etc/junctiond/junctiond.toml. Where that file is
                                  missing the built-in defaults apply. The files
                                  conf.d/*.toml beside it are read after it.
          --socket <path>         Where to listen, unless a socket was passed;
                                  otherwise $XDG_RUNTIME_DIR/junctiond/junctiond.sock,
                                  otherwise /run/junctiond/junctiond.sock.
          --state-dir <dir>       Where to keep the session; otherwise
                                  $STATE_DIRECTORY, otherwise
                                  $XDG_STATE_HOME/junctiond, otherwise
                                  ~/.local/state/junctiond.
          --check-config          Check the configuration and the files it names, say
                                  whether it is in order, and end.
          --version               Show the version.
          -h, --help              Show help information.

        $JUNCTIOND_INSTANCE is the name of one of several installations. Then NAME
        stands for junctiond in junctiond.toml and junctiond.sock above, NAME.conf.d for
        conf.d, and junctiond@NAME for junctiond in the last two state directories. The
        configuration must exist. junctionctl --instance NAME talks to that daemon.

        """
}
