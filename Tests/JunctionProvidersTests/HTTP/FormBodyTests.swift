import JunctionSecret
import Testing

@testable import JunctionProviders

struct FormBodyTests {
    @Test func `every byte that is not unreserved is escaped, including the plus sign`() {
        let form = FormBody([
            .text(name: "grant_type", value: "urn:a b"),
            .secret(name: "refresh_token", value: SharedSecret(text: "a+b/c=d&e%f~-._é\n")),
        ])

        #expect(form.encoded.text == "grant_type=urn%3Aa%20b&refresh_token=a%2Bb%2Fc%3Dd%26e%25f~-._%C3%A9%0A")
    }

    @Test func `an empty value is sent as an empty field`() {
        #expect(FormBody([.secret(name: "a", value: SharedSecret(text: ""))]).encoded.text == "a=")
    }
}
