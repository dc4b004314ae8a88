import Glibc

/// A file operation that failed: the operation, the path and the error code.
package struct FileFault: Error, Equatable, Sendable {
    /// The verb: `create`, `write`, `sync`, …
    package var operation: String
    package var path: String
    /// The `errno` of the failed call.
    package var code: Int32

    package init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether freeing some space may help.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the name belongs to a directory, a link or a pipe instead of a file.
    package var isNotAPlainFile: Bool { code == EISDIR || code == ELOOP || code == ENXIO }
}

extension FileFault: CustomStringConvertible {
    /// What failed, for which path, why, and what to do.
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
