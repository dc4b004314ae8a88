import Foundation
import JunctionNetworkHelper
import Testing

@testable import JunctionProviders

struct WatchedFileTests {
    private let folder = PemFolder()

    @Test func `an unchanged file is not reported`() throws {
        let path = folder.put("first", in: "ca.pem")
        let file = try Watched(path)

        #expect(file.content == PemFolder.certificate("first"))
        #expect(!file.look())
    }

    @Test func `a changed content is reported once`() throws {
        let path = folder.put("first", in: "ca.pem")
        let file = try Watched(path)

        folder.put("second one", in: "ca.pem")
        #expect(file.look())
        #expect(file.content == PemFolder.certificate("second one"))
        #expect(!file.look())
    }

    @Test func `a replaced file and a changed link are reported`() throws {
        let path = folder.put("first", in: "ca.pem")
        let link = folder.link("link.pem", to: path)
        let (file, linked) = (try Watched(path), try Watched(link))

        folder.move(folder.put("other", in: "new.pem"), to: "ca.pem")
        #expect(file.look())
        #expect(linked.look())
        let elsewhere = folder.put("third", in: "third.pem")
        _ = folder.link("link.pem", to: elsewhere)
        #expect(linked.look())
        #expect(linked.content == PemFolder.certificate("third"))
    }

    @Test func `another file with the same content is not reported`() throws {
        let path = folder.put("first", in: "ca.pem")
        let file = try Watched(path)

        folder.move(folder.put("first", in: "new.pem"), to: "ca.pem")
        #expect(!file.look())
    }

    @Test func `a file that is temporarily unreadable keeps its content`() throws {
        let path = folder.put("first", in: "ca.pem")
        let file = try Watched(path)

        folder.write("-----BEGIN CERTIFICATE-----\nMII", in: "ca.pem")
        #expect(!file.look())
        folder.remove("ca.pem")
        #expect(!file.look())
        folder.makePipe("ca.pem")
        #expect(!file.look())
        folder.remove("ca.pem")
        #expect(file.content == PemFolder.certificate("first"))
        folder.put("second", in: "ca.pem")
        #expect(file.look())
    }

    @Test func `an invalid file fails at the start with its setting and its path`() throws {
        let wrong = [
            folder.path("nothing.pem"), folder.write("no certificate", in: "text.pem"), folder.makePipe("pipe.pem"),
            folder.folder,
        ]
        for path in wrong {
            let fault = #expect(throws: ProviderConfigurationFault.self) {
                try WatchedFile("tls.caFile", path, .certificates)
            }
            #expect(fault?.message == "tls.caFile: \(path) cannot be read as certificates: expected a PEM file")
        }
        let long = folder.write(
            PemFolder.certificate("a") + String(repeating: " ", count: NetworkSettings.longestFile),
            in: "long.pem"
        )
        let excess = #expect(throws: ProviderConfigurationFault.self) {
            try WatchedFile("tls.caFile", long, .certificates)
        }
        #expect(excess?.message.hasPrefix("tls.caFile: \(long) is too long: expected at most 1024 KiB") == true)
        let path = folder.put("first", in: "ca.pem")
        let fault = #expect(throws: ProviderConfigurationFault.self) {
            try WatchedFile("network.clientKeyFile", path, .key)
        }
        #expect(
            fault?.message
                == "network.clientKeyFile: \(path) cannot be read as a private key without a password: expected a PEM file"
        )
    }
}

/// A reference to a `WatchedFile`, because `#expect` cannot call mutating methods.
private final class Watched {
    private var file: WatchedFile

    init(_ path: String) throws(ProviderConfigurationFault) {
        file = try WatchedFile("tls.caFile", path, .certificates)
    }

    var content: String { file.content.text }

    func look() -> Bool { file.look() }
}
