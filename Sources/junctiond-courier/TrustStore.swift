import CCurl
import Glibc
import JunctionCourier
import JunctionSecret

/// Whom the machine trusts, and whom the keeper trusts beside them.
///
/// Where the distribution has a folder of authorities, each found by its name when it is needed, nothing is read before, and an
/// authority that came or went counts from the next connection on. Elsewhere there is one file, and libcurl reads it anew
/// for each connection. Which of the two it is may change, too: somebody installs the authorities. A folder that is not the
/// distribution's own way counts only where there is no such file: what somebody has put there is not all.
struct TrustStore {
    private let ownFolder: String?
    private let file: String?

    init() {
        let library = ccurl_version()?.pointee
        self.init(
            ownFolder: library?.capath.map { String(cString: $0) },
            file: library?.cainfo.map { String(cString: $0) }
        )
    }

    /// - Parameters:
    ///   - ownFolder: where this distribution's libcurl looks for single authorities, if it does.
    ///   - file: where it looks for all of them.
    init(ownFolder: String?, file: String?) {
        (self.ownFolder, self.file) = (ownFolder, file)
    }

    /// The folder that counts now, if it is one and not the file.
    func folder(otherwise usual: String = "/etc/ssl/certs") -> String? {
        if let ownFolder, Self.isHashed(ownFolder) { return ownFolder }
        if let file, Self.isFilled(file) { return nil }
        return Self.isHashed(usual) ? usual : nil
    }

    /// Sets whom a transfer trusts.
    func apply(to easy: UnsafeMutableRawPointer, with more: SharedSecret) {
        // Nothing is kept of what was trusted a minute ago.
        ccurl_set_number(easy, CURLOPT_CA_CACHE_TIMEOUT, 0)
        if let folder = folder() {
            ccurl_set_text(easy, CURLOPT_CAPATH, folder)
            ccurl_set_text(easy, CURLOPT_PROXY_CAPATH, folder)
            ccurl_set_text(easy, CURLOPT_CAINFO, nil)
            ccurl_set_text(easy, CURLOPT_PROXY_CAINFO, nil)
            set(more, of: easy)
        } else if more.count > 0 {
            set(joined(with: more), of: easy)
        }
    }

    private func set(_ certificates: SharedSecret, of easy: UnsafeMutableRawPointer) {
        guard certificates.count > 0 else { return }
        certificates.withUnsafeBytes {
            ccurl_set_blob(easy, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count)
            ccurl_set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, $0.baseAddress, $0.count)
        }
    }

    /// The system's file and more: libcurl takes one or the other.
    private func joined(with more: SharedSecret) -> SharedSecret {
        guard let file, let bytes = Self.content(of: file) else { return more }
        return SharedSecret(
            Secret(capacity: bytes.count + more.count) { room in
                room.copyBytes(from: bytes)
                more.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: room[bytes.count...]).copyMemory(from: $0)
                }
                return room.count
            }
        )
    }

    private static func content(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard (0...1 << 24).contains(size) else { return nil }
        return [UInt8](unsafeUninitializedCapacity: size) { room, count in
            count = max(pread(file, room.baseAddress, size, 0), 0)
        }
    }

    private static func isFilled(_ path: String) -> Bool {
        var status = stat()
        return access(path, R_OK) == 0 && stat(path, &status) == 0 && status.st_size > 0
    }

    /// Whether the folder has authorities under their hashes, as `openssl rehash` makes them.
    private static func isHashed(_ folder: String) -> Bool {
        guard let entries = opendir(folder) else { return false }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let isHashed = withUnsafeBytes(of: entry.pointee.d_name) { name in
                name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
            }
            if isHashed { return true }
        }
        return false
    }
}
