#if Inspector
    package import HTTPTypes

    /// Decides, before anything else looks at it, whether a request was meant for this server.
    ///
    /// A page of another site can make the browser of this machine send requests here, also under the other site's name, if that
    /// name's owner lets it resolve to 127.0.0.1 (DNS rebinding). Therefore a request must name one of this server's own addresses,
    /// and must not come from a page of another origin.
    package struct RequestCheck: Sendable, Hashable {
        /// Why a request is refused. The text never repeats what the request said.
        package struct Refusal: Sendable, Hashable {
            package let status: HTTPResponse.Status
            package let reason: String
        }

        /// Values of Host that are accepted, in lower case.
        private let authorities: Set<String>
        private let address: String
        private let needsOrigin: Bool

        /// A check for a server at `address`. `names` are further names of this machine that Host may have, with the same port:
        /// `localhost` or none. `needsOrigin`: requests other than GET and HEAD need an Origin.
        package init(_ address: LoopbackAddress, names: Set<String>, needsOrigin: Bool = true) {
            self.needsOrigin = needsOrigin
            self.address = address.description
            guard let authority = address.authority, let colon = authority.lastIndex(of: ":") else {
                // No browser reaches a Unix socket. `curl --unix-socket /path http://localhost/` and proxies send this.
                self.authorities = ["localhost"]
                return
            }
            let port = authority[authority.index(after: colon)...]
            var hosts = names.union([String(authority[..<colon])])
            hosts.formUnion(hosts.map { "\($0):\(port)" })
            // Only the port of HTTP itself may be left out.
            self.authorities = port == "80" ? hosts : hosts.filter { $0.hasSuffix(":\(port)") }
        }

        /// - Returns: Why the request is refused; nil if it is not.
        package func refusal(_ head: HTTPRequest) -> Refusal? {
            guard let host = head.authority, !head.headerFields.contains(.furtherHost), !host.isEmpty else {
                return Refusal(status: .badRequest, reason: "the request must have exactly one header Host")
            }
            guard self.authorities.contains(host.lowercased()) else {
                return Refusal(
                    status: .misdirectedRequest,
                    reason: "this server answers requests to \(self.address) only")
            }
            return self.refusalByOrigin(head)
        }

        private func refusalByOrigin(_ head: HTTPRequest) -> Refusal? {
            let foreign = Refusal(status: .forbidden, reason: "pages of other sites may not use this server")
            let onlyReads = head.method == .get || head.method == .head
            let origins = head.headerFields[values: .origin]
            if origins.isEmpty {
                guard onlyReads || !self.needsOrigin else {
                    return Refusal(
                        status: .forbidden, reason: "a request that changes something needs the header Origin"
                    )
                }
            } else if origins.count > 1 || !self.isOwn(origins[0]) {
                return foreign
            }
            switch head.headerFields[.fetchSite] {
            case nil, "none", "same-origin": return nil
            default:
                // A link from elsewhere, which a person followed, may open a page.
                let isLink =
                    head.method == .get && head.headerFields[.fetchMode] == "navigate"
                    && head.headerFields[.fetchDestination] == "document"
                return isLink ? nil : foreign
            }
        }

        private func isOwn(_ origin: String) -> Bool {
            let scheme = "http://"
            return origin.hasPrefix(scheme)
                && self.authorities.contains(String(origin.dropFirst(scheme.count)))
        }
    }
#endif
