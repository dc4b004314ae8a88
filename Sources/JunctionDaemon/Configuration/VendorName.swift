package import JunctionProviders

/// The name of a known vendor in the configuration.
package struct VendorName: RawRepresentable, CaseIterable, Equatable, Sendable {
    /// Every vendor; the first is the default.
    package static let allCases = [
        VendorName(JunctionVendor.self),
        VendorName(SocialVendor.self),
        VendorName(SinchVendor.self),
        VendorName(OAuthVendor.self),
    ]

    package let vendor: any Vendor.Type

    private init(_ vendor: any Vendor.Type) { self.vendor = vendor }

    package init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    package var rawValue: String { vendor.name }

    package static func == (one: VendorName, other: VendorName) -> Bool { one.vendor == other.vendor }
}
