import Testing

@testable import WaymarkAccess

@Suite struct GlobTests {
    @Test(arguments: [
        ("bus-7", "bus-7", true), ("bus-7", "bus-70", false), ("bus-7", "us-7", false),
        ("bus-*", "bus-", true), ("bus-*", "bus-7", true), ("bus-*", "tram-7", false),
        ("*", "x", true), ("*-7", "bus-7", true), ("*-7", "bus-7-8", false), ("b?s", "bus", true),
        ("b?s", "bs", false), ("?", "ab", false), ("*a*b", "xaxaxb", true), ("*a*b", "xaxax", false),
        ("a**", "a", true), ("a*?", "a", false),
    ])
    func `a pattern matches the whole id`(_ pattern: String, _ id: String, _ isMatch: Bool) throws {
        #expect(try #require(Glob(pattern)).matches(Array(id.utf8)) == isMatch)
    }

    @Test func `a pattern has the characters of ids`() {
        for text in ["", "bus 7", "bus/7", "[ab]", "bus\n", "\u{E9}", String(repeating: "a", count: 129)] {
            #expect(Glob(text) == nil, "\(text)")
        }
        #expect(Glob("bus-*")?.description == "bus-*")
    }

    @Test func `a long list of ids is looked up`() throws {
        let ids = (0..<1_000).map { "bus-\($0)" }
        let list = GlobList((ids + ["tram-*"]).compactMap { Glob($0) })
        #expect(ids.allSatisfy { list.matches(Array($0.utf8)) })
        #expect(list.matches(Array("tram-7".utf8)))
        #expect(!list.matches(Array("bus-1000".utf8)))
    }

    /// A matcher that tried all ways to divide the id would not end.
    @Test func `many stars do not multiply the work`() throws {
        let glob = try #require(Glob(String(repeating: "a*", count: 63) + "b"))
        #expect(!glob.matches(Array(repeating: UInt8(ascii: "a"), count: 10_000)))
    }
}

@Suite struct KeyDigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `a digest is that of SHA-256`(_ text: String, _ expected: String) {
        let digest = KeyDigest(of: Array(text.utf8))
        #expect(digest.hexadecimal == expected)
        #expect(digest.isEqual(to: KeyDigest(of: Array(text.utf8))))
        #expect(!digest.isEqual(to: KeyDigest(of: Array("\(text)x".utf8))))
    }

    @Test(arguments: [
        (55, "94abcc11f65698688ffc2858efb9b3d55f20c579abaad82735ae6817887595f4"),
        (56, "493a700b8fd71c2a186c018e1d3a9b1bebbcec358a13daa67e76a788fddc2e07"),
        (63, "d4bacb34b88e17aabe42b5e49c36ab951d4fe19a13c11410eebbc73265e4edfe"),
        (64, "2519b49bcf69feac270ac3c8631539e8caed4c7e6a62c6cc5511228a61780745"),
        (119, "4faa65f0aeec8078317ebc05630903148e3a809f66bb1b68ce6f50139f0dc051"),
        (120, "64fa0bb88d882a997cac9b2506f0ed5a5003259d2b316815aaff3f1d026c7390"),
        (256, "ce16fe78208a4e93f7158e62393680e025b2ad584f4e875ce903a654bb74cf93"),
    ])
    func `a key may end anywhere in a block`(_ byteCount: Int, _ expected: String) {
        #expect(KeyDigest(of: Array(repeating: UInt8(ascii: "k"), count: byteCount)).hexadecimal == expected)
    }
}
