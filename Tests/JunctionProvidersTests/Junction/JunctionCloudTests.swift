import Testing

@testable import JunctionProviders

struct JunctionCloudTests {
    @Test(arguments: [
        (JunctionSite(.production, .us), "auth.us.junction.com", "api.us.junction.com"),
        (JunctionSite(.production, .eu), "auth.eu.junction.com", "api.eu.junction.com"),
        (JunctionSite(.sandbox, .us), "auth.sandbox.us.junction.com", "api.sandbox.us.junction.com"),
        (JunctionSite(.sandbox, .eu), "auth.sandbox.eu.junction.com", "api.sandbox.eu.junction.com"),
        (JunctionSite(.dev, .us), "auth.dev.us.junction.com", "api.dev.us.junction.com"),
        (JunctionSite(.dev, .eu), "auth.dev.eu.junction.com", "api.dev.eu.junction.com"),
    ])
    func `every environment and region has its own two hosts`(site: JunctionSite, auth: String, api: String) throws {
        let cloud = try JunctionCloud()

        #expect(cloud.auth(site).url == "https://\(auth)")
        #expect(cloud.api(site).url == "https://\(api)")
    }

    @Test func `an override replaces all hosts`() throws {
        let cloud = try JunctionCloud(authUrl: "http://127.0.0.1:8787/", apiUrl: nil)

        #expect(cloud.auth(JunctionSite(.production, .eu)).url == "http://127.0.0.1:8787")
        #expect(cloud.api(JunctionSite(.production, .eu)).url == "https://api.eu.junction.com")
    }

    @Test func `an invalid override is reported with its key`() {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try JunctionCloud(apiUrl: "http://example.com") }

        #expect(fault?.message.hasPrefix("junction.apiUrl: ") == true)
    }
}
