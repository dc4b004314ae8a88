import JunctionProviders
import JunctionServer

/// A configuration that the daemon can run with: what it names has been looked up, opened and read.
///
/// A start, `--check-config` and a reload ask for the same, so that none of them takes what another refuses.
struct ValidatedConfiguration {
    let configuration: Configuration
    let vendor: any Vendor
    let network: NetworkUse
    let rules: [AccessRule]
    /// One line each: things that are allowed and may be mistakes.
    let notes: [String]
    /// Which access entries match nobody, one line each; among the notes, too.
    let accessNotes: [String]
    /// The files with secrets that the provider reads.
    let secretFiles: [SecretFile]
    let origin: ConfigurationOrigin

    /// - Parameters:
    ///   - credentials: where the service manager put its credentials.
    ///   - variables: the environment, which may name a proxy.
    init(
        _ loaded: ConfigurationSource.Loaded,
        credentials: String?,
        variables: [String: String],
        accounts: AccountDirectory = .system
    ) throws(StartFailure) {
        configuration = loaded.configuration
        origin = loaded.origin
        let vendor = Self.vendor(of: configuration, credentials: credentials)
        let network = Result { [configuration] () throws(StartFailure) in
            try configuration.networkUse(credentials: credentials, variables: variables)
        }
        for failure in [vendor.failure, network.failure] {
            if let failure, failure.missingCredential == nil { throw failure }
        }
        do throws(UndecidedAccess) {
            (rules, accessNotes) = try configuration.accessRules(by: accounts, naming: loaded.accessEntries)
        } catch {
            throw StartFailure(error)
        }
        // The last of all: where only the service has credentials, everything else has been looked at.
        (self.vendor, self.network) = (try vendor.get(), try network.get())
        secretFiles = SecretFile.all(in: configuration)
        notes = loaded.notes + accessNotes + secretFiles.compactMap(\.note)
    }

    /// A session of another provider is not ours to touch: a start asks with what is stored, a reload with what runs.
    ///
    /// - Parameter session: the provider of the session that there is, if there is one.
    func check(mayHave session: String?) throws(StartFailure) {
        let provider = configuration.provider.rawValue
        guard let session, session != provider else { return }
        throw StartFailure(
            .configuration,
            "The stored session belongs to provider \"\(session)\", and the configuration says \"\(provider)\": sign out "
                + "with the old configuration first, or set provider back"
        )
    }

    /// Everything about the vendor is checked here, before anything is touched.
    private static func vendor(
        of configuration: Configuration,
        credentials: String?
    ) -> Result<any Vendor, StartFailure> {
        let name = configuration.provider
        let values = configuration.vendors[name.rawValue] ?? [:]
        do throws(ProviderConfigurationFault) {
            let settings = VendorSettings(
                values,
                of: name.rawValue,
                credentials: credentials,
                secret: SmallFile.readableSecret(at:)
            )
            return .success(try name.vendor.init(settings))
        } catch {
            return .failure(StartFailure(error))
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
