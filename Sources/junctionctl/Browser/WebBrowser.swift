import Glibc

/// The browser of the user at this machine.
enum WebBrowser {
    /// Opens a page with `xdg-open` if there is a display. Returns whether it was tried.
    ///
    /// - Parameter page: the address, which becomes an argument that every user of this machine can read.
    static func open(_ page: String) -> Bool {
        guard hasScreen, let program = Program.path(of: "xdg-open") else { return false }
        return Program.start(program, page)
    }

    private static var hasScreen: Bool {
        let screens: [String] = ["DISPLAY", "WAYLAND_DISPLAY"]
        return screens.contains { screen in getenv(screen).map { $0[0] != 0 } ?? false }
    }
}
