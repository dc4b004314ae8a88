import Glibc

/// A file operation that the system refused: what was tried, on what, and why.
package struct FileFault: Error, Equatable, Sendable {
    /// The verb: `create`, `write`, `sync`, …
    package var operation: String
    package var path: String
    /// The `errno` of the refusal.
    package var code: Int32

    package init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether freeing some space may help.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether a directory, a link or a pipe has the name of a file.
    package var isNotAPlainFile: Bool { code == EISDIR || code == ELOOP || code == ENXIO }
}

extension FileFault: CustomStringConvertible {
    /// What happened, to what, what to do.
    package var description: String {
        "Cannot \(operation) \(path): \(String(cString: strerror(code))). \(advice)."
    }

    private var advice: String {
        switch code {
        case ENOSPC, EDQUOT: "Free some space on this file system"
        case EROFS: "Make this file system writable"
        case EACCES, EPERM: "Make the file and its directory belong to the user that junctiond runs as"
        case EISDIR, ELOOP, ENOTDIR: "Something that is not a plain file has its name: move that away"
        case EIO: "The disk reports errors: check it, and the kernel's log"
        case EMFILE, ENFILE: "Too many files are open: raise the limit"
        default: "Check the directory and its file system"
        }
    }
}
