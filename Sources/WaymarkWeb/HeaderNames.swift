#if Inspector
    internal import HTTPTypes

    // Names that HTTPTypes does not have.
    extension HTTPField.Name {
        /// The first header Host is not among a request's fields, so these are further ones.
        static let furtherHost = Self.named("host")
        /// Who made a request: a page of the same origin, of another one, or a person. Browsers send it, and pages cannot change it.
        static let fetchSite = Self.named("sec-fetch-site")
        static let fetchMode = Self.named("sec-fetch-mode")
        static let fetchDestination = Self.named("sec-fetch-dest")
        static let referrerPolicy = Self.named("referrer-policy")

        private static func named(_ text: String) -> HTTPField.Name {
            guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is a valid name") }
            return name
        }
    }
#endif
