import CCurl
import Glibc

/// What is on this machine: no proxy has any business in between.
enum Loopback {
    /// Whether the host of a URL is a loopback address, or the name of one.
    static func isHost(of url: String) -> Bool {
        guard let parsed = curl_url() else { return false }
        defer { curl_url_cleanup(parsed) }
        var host: UnsafeMutablePointer<CChar>?
        guard curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK,
            curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host
        else { return false }
        defer { curl_free(host) }
        return isHost(String(cString: host))
    }

    static func isHost(_ host: String) -> Bool {
        if host == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four) { $0[0] == 127 } }
        var six = in6_addr()
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard inet_pton(AF_INET6, bare, &six) == 1 else { return false }
        return withUnsafeBytes(of: six) { bytes in bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 }
    }
}
