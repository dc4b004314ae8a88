// THIS KEY IS PUBLIC. It signs only what the sandbox issues: Sign-In Tokens, and id_tokens where RS256 is set. Anyone
// who reads this file can forge such tokens. This is harmless because only the sandbox and its tests accept them. The
// key is fixed so that a token from before a restart of the sandbox is still valid after it.

/// The published test key with which the sandbox signs tokens.
enum TestSigningKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDATgIrwR/hW/e6
        0v8exF4dKkHH9EJQe148sJy4rdiSQhOJXPNoYmjXVcLd4ucEjQ0fF+1CV61mfRZZ
        XXyfPL7WSGnj8hDmAuFVU9pch4HobevbG1nW44GT8zmNaw0kNwHvoHQa32xuAvyH
        Mh5ZTfWyswk0ACLfvksxzVSt9r55JK18vUALrETt61swhV98j2pqHrXsMm+ARL6Q
        +2b1FyT34XPq2RF/J81mRPEGIP8gZ6dq7CTuPc052P5i1a6UMqzqsFyJwJSAbEGk
        Ntxt+j9ZqzTjbZsM6pZdAFOELzJiWSdpDFQORn0QHxQX7ovHfKsWm/ZIekYR8h8g
        Tunpo8kdAgMBAAECggEABlDZkeclHVFDBN6xVH5FtVwCA+eXYPjNoB0l0eFFy7dC
        AyuAxAoitYXNIV1L0egHCQvPtfOBZVcQ4Oz+LuWqF968zujQRMRN8xqOq/t4WQej
        132huPoeXfCppdB2V/I64kxJBpPqxf8w8jNuGz1BUfXphLdyGG/xx3LeB9ui0awu
        jPr7etu9oniKhGIUCNJmvJR0pDHPa9Vv5MU0IkB63qh2atwzlSoNatcM5IWPQhGJ
        nLD4yH0osZMBg7uNQXC3fFIAB47ahJObkZpZwM3G5YL+iZxlclqBipZApQd76yjD
        bX7rJpUWbBmxTV2Og9aS8xmiMysJllFcgM7PJYOeOQKBgQDfml4aQA3oWiX6m0M1
        Qg6k68st+74UwD3nIbEmOhdkbgw1vv5SR867Euw37TZxpfi60au/UaUi+4B5Xigr
        sRITeuT5HK0XOOwLXyTjRehSTuHYrDpJ1HB5K7Ur2e3VA9QQLEn/qTVCEar6F8gE
        7Xr3+/CA27vLLzzbXjtdOX/f6QKBgQDcKsKaTWQpvxy6M1K09aMCF/gF5QC0goin
        LnVUOzpz0XFJtZkZ3Ii5uyHObYj2SQyw9vGBdROpsMSucGqDE5PHJz7Dqw5EWNIh
        unCiPtUx9gP1ygt6C6JB7siECPPp70Nl4frG8y/5kRF3MKTFlULK9brvK2ZtUwJ5
        uZ1VIFMzFQKBgHvur2GVRyAVdx9jluiZ6Ev4dPDTqxMNSkIlJm6tm/GKHTJc3dD1
        A9wkLNECpT5wY2AIfkzYD9NH2nlqepFc30v0vZxlDHrmjc3vuh5NzOpx1jOlodjx
        6jT+yLe5XlzGdm9QXONbAa3Q5Rcgvzgb+CAif7asE3YWhICBxh1xlTKhAoGBAKXs
        9/JwJu+rX0wZB9jnUq1uQPa4Spq/0ZslUTlk1b2Zd+aUHMk3wjcvh9/Z/yGVliH8
        SbBF+salOOU6RZt5cqLhudSfIsZxphPTPbWY4vWfMgbX+WRGRkeoXKfdU23XaxTq
        hSPQ/TP5l48bMuLRhaAOJ46+R5hWugPg1mjkTq+tAoGAIpkej5lH1dhTcblWewri
        L4mZQqp6qZP7GsG6/d3/xOHcwTWQIGSpSUFa12dgY6Y6KySdLQ7qugukcL+Ycj7q
        dySkqY/nO0r9kLNFlNkcA1e25SVzgaGZ+qUWx3EC6yVOTMWOiSCfPXeeW1s+egJA
        /5/uRDRwrb7WE3WsbzsAWWQ=
        -----END PRIVATE KEY-----
        """
}
