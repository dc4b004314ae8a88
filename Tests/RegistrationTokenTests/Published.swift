import RegistrationToken

/// The test vectors that the vendor has published, and their common inputs.
enum Published {
    static let applicationKey = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
    static let secretText = "ax8hTTQJF0OPXL32r1LHMA=="
    static let nonce = "6b438bda-2d5c-4e8c-92b0-39f20a94b34e"
    /// 2018-01-02T03:04:05Z.
    static let now: Int64 = 1_514_862_245

    static let header = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImhrZGZ2MS0yMDE4MDEwMiJ9"

    /// Members in alphabetical order, as in the vendor's Python and Java examples.
    static let sorted =
        header
        + ".eyJleHAiOjE1MTQ4NjI4NDUsImlhdCI6MTUxNDg2MjI0NSwiaXNzIjoiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy9hMzJlNWE4ZC"
        + "1mN2Q4LTQxMWMtOTY0NS05MDM4ZThkZDA1MWQiLCJub25jZSI6IjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSIsInN1Yi"
        + "I6Ii8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvYTMyZTVhOGQtZjdkOC00MTFjLTk2NDUtOTAzOGU4ZGQwNTFkL3VzZXJzL2ZvbyJ9"
        + ".10N-QAvRK0-dacox5X5YusK7C0AWb-kZLiNNTKLQw8I"

    /// Members in the order of the table of claims in the vendor's documentation.
    static let documented =
        header
        + ".eyJpc3MiOiIvL3J0Yy5zaW5jaC5jb20vYXBwbGljYXRpb25zL2EzMmU1YThkLWY3ZDgtNDExYy05NjQ1LTkwMzhlOGRkMDUxZCIsInN1Yi"
        + "I6Ii8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvYTMyZTVhOGQtZjdkOC00MTFjLTk2NDUtOTAzOGU4ZGQwNTFkL3VzZXJzL2ZvbyIsIm"
        + "lhdCI6MTUxNDg2MjI0NSwiZXhwIjoxNTE0ODYyODQ1LCJub25jZSI6IjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9"
        + ".EUltTTD4fxhkwCgLgj6qSQXKawpwQ952Ywm3OwQSARo"

    static var secret: ApplicationSecret {
        get throws { try ApplicationSecret(base64: secretText.utf8) }
    }
}
