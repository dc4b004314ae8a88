import CLinux
import Glibc

extension StateDirectory: StateFiles {
    package func names(in folder: StateFolder) throws(FileFault) -> [String] {
        let opened = openat(descriptor, folder.rawValue, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if opened < 0, errno == ENOENT, folder != .stateDirectory { return [] }
        guard opened >= 0 else { throw fault("list", folder) }
        guard let stream = fdopendir(opened) else {
            let refused = fault("list", folder)
            Glibc.close(opened)
            throw refused
        }
        defer { closedir(stream) }

        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw fault("list", folder) }
        return names
    }

    package func read(_ file: StateFile, atMost limit: Int) throws(FileFault) -> [UInt8]? {
        // O_NONBLOCK, because another program may have put a pipe there.
        let opened = openat(descriptor, file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if opened < 0, errno == ENOENT { return nil }
        guard opened >= 0 else { throw fault("read", file) }
        defer { Glibc.close(opened) }

        var status = stat()
        guard fstat(opened, &status) == 0 else { throw fault("read", file) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw fault("read", file, code: EISDIR) }
        var bytes = [UInt8](repeating: 0, count: min(limit, Int(status.st_size)))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return Glibc.read(opened, rest.baseAddress, rest.count)
            }
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw fault("read", file)
            }
            filled += got
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    package func create(_ file: StateFile) throws(FileFault) -> Int32 {
        let opened = openat(descriptor, file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw fault("create", file) }
        return opened
    }

    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        of file: StateFile
    ) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let written = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw fault("write", file)
            }
            rest = rest.dropFirst(written)
        }
    }

    package func sync(_ descriptor: Int32, of file: StateFile) throws(FileFault) {
        guard fsync(descriptor) == 0 else { throw fault("sync", file) }
    }

    package func close(_ descriptor: Int32, of file: StateFile) throws(FileFault) {
        // Linux releases the descriptor even if close(2) returns an error, so it must not be closed again.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw fault("close", file) }
    }

    package func rename(_ file: StateFile, to name: StateFile) throws(FileFault) {
        guard renameat(descriptor, file.path, descriptor, name.path) == 0 else { throw fault("rename", file) }
    }

    package func link(_ file: StateFile, as name: StateFile) throws(FileFault) {
        guard linkat(descriptor, file.path, descriptor, name.path, 0) == 0 || errno == EEXIST else {
            throw fault("put aside", file)
        }
    }

    package func remove(_ file: StateFile) throws(FileFault) {
        guard unlinkat(descriptor, file.path, 0) == 0 || errno == ENOENT else { throw fault("remove", file) }
    }

    package func sync(_ folder: StateFolder) throws(FileFault) {
        guard folder != .stateDirectory else {
            guard fsync(descriptor) == 0 else { throw fault("sync", folder) }
            return
        }
        let opened = openat(descriptor, folder.rawValue, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw fault("sync", folder) }
        defer { Glibc.close(opened) }
        guard fsync(opened) == 0 else { throw fault("sync", folder) }
    }

    package func make(_ folder: StateFolder) throws(FileFault) {
        guard mkdirat(descriptor, folder.rawValue, 0o700) == 0 || errno == EEXIST else { throw fault("create", folder) }
    }

    package func reserve(_ file: StateFile, size: Int64) throws(FileFault) {
        let opened = try create(file)
        defer { Glibc.close(opened) }
        let refused = clinux_reserve_space(opened, size)
        guard refused == 0 else {
            unlinkat(descriptor, file.path, 0)
            throw fault("reserve", file, code: refused)
        }
    }

    private func fault(_ operation: String, _ file: StateFile, code: Int32 = errno) -> FileFault {
        FileFault(operation, location(of: file), code: code)
    }

    private func fault(_ operation: String, _ folder: StateFolder, code: Int32 = errno) -> FileFault {
        FileFault(operation, folder == .stateDirectory ? path : "\(path)/\(folder.rawValue)", code: code)
    }
}
