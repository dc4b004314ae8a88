extension Configuration {
    /// Fails on a setting that is part of the format, and that this version of junctiond cannot carry out yet.
    func requireSupported(_ source: SettingsTable.Source) throws(ConfigurationError) {
        func fault(_ key: String, _ value: String, only possible: String) -> ConfigurationError {
            let message = "\"\(value)\" is not in this version of junctiond yet: only \"\(possible)\" is"
            return ConfigurationError(source.place(of: key), key: key, message)
        }
        guard provider == .junction else { throw fault("provider", provider.rawValue, only: "junction") }
        guard renewalMode == .automatic else { throw fault("renewal.mode", renewalMode.rawValue, only: "automatic") }
    }
}
