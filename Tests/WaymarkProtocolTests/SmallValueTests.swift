import Foundation
import Testing
import WaymarkProtocol

@Suite struct SmallValueTests {
    @Test func `a set of features does what any set does`() throws {
        var features: FeatureSet = []
        var model: Set<Feature> = []
        for step in 0..<1_000 {
            let feature = try #require(Feature.allCases.randomElement())
            if Bool.random() {
                features.insert(feature)
                model.insert(feature)
            } else {
                features.remove(feature)
                model.remove(feature)
            }
            #expect(Set(features) == model, "step \(step)")
            #expect(features.map(\.rawValue) == model.map(\.rawValue).sorted())
            #expect(features.isEmpty == model.isEmpty)
            #expect(Feature.allCases.allSatisfy { features.contains($0) == model.contains($0) })
            #expect(features == FeatureSet(model))
            let other = FeatureSet(Feature.allCases.filter { _ in Bool.random() })
            #expect(Set(features.union(other)) == model.union(other))
        }
    }

    @Test func `a set of features is coded as a list of them`() throws {
        let features: FeatureSet = [.prompts, .maneuvers, .resumption]
        let bytes = try JSONEncoder().encode(features)
        #expect(String(decoding: bytes, as: UTF8.self) == "[1,12,16]")
        #expect(try JSONDecoder().decode(FeatureSet.self, from: bytes) == features)
        // As it was written when it was a set, in any order.
        #expect(try JSONDecoder().decode(FeatureSet.self, from: Data("[16,1,12]".utf8)) == features)
    }

    private struct Numbers: Defaultable { var list: [Int] = [] }

    private struct Book: Hashable, Codable { @BoxedInPlace var numbers = Numbers() }

    @Test func `what is changed in place is a value like any other`() throws {
        let empty = Book()
        var book = empty
        book.numbers.list.append(1)
        var copy = book
        copy.numbers.list.append(2)
        #expect(book.numbers.list == [1] && copy.numbers.list == [1, 2])
        let bytes = try JSONEncoder().encode(copy)
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"numbers":{"list":[1,2]}}"#)
        #expect(try JSONDecoder().decode(Book.self, from: bytes) == copy)
        copy.numbers.list = []
        #expect(copy == empty && copy.hashValue == empty.hashValue)
        #expect(MemoryLayout<Book>.size == MemoryLayout<Int>.size)
    }

    @Test func `what is changed in place is not copied`() {
        var book = Book()
        book.numbers.list.reserveCapacity(1_000)
        let start = book.numbers.list.withUnsafeBufferPointer(\.baseAddress)
        for number in 0..<1_000 { book.numbers.list.append(number) }
        #expect(book.numbers.list.withUnsafeBufferPointer(\.baseAddress) == start)
    }

    private struct Sample: Hashable, Codable {
        @BoxedIfCustom var limits = VehicleLimits()
        var name = "a"
    }

    @Test func `what is rare is a value like any other`() throws {
        var sample = Sample()
        let usual = sample
        sample.limits.alertTextLengthMax = 3
        var copy = sample
        #expect(copy == sample && copy.hashValue == sample.hashValue && copy != usual)
        copy.limits.alertTextLengthMax = 4
        #expect(sample.limits.alertTextLengthMax == 3 && copy.limits.alertTextLengthMax == 4)
        copy.limits.alertTextLengthMax = 0
        #expect(copy == usual && copy.hashValue == usual.hashValue)
    }

    @Test func `what is rare is coded as the value itself`() throws {
        struct Plain: Codable {
            var limits = VehicleLimits()
            var name = "a"
        }
        for length: UInt32 in [0, 7] {
            var sample = Sample()
            sample.limits.alertTextLengthMax = length
            var plain = Plain()
            plain.limits.alertTextLengthMax = length
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let bytes = try encoder.encode(sample)
            #expect(try bytes == encoder.encode(plain))
            #expect(try JSONDecoder().decode(Sample.self, from: bytes) == sample)
        }
        #expect(MemoryLayout<BoxedIfCustom<VehicleLimits>>.size == MemoryLayout<Int>.size)
    }

    private struct Small: Hashable, Codable {
        @Boxed var limits: VehicleLimits? = nil
        @Narrow var count = 0
    }

    private struct Plain: Codable {
        var limits: VehicleLimits?
        var count = 0
    }

    @Test func `what takes less memory is coded as what it stands for`() throws {
        for limits in [nil, VehicleLimits()] {
            let small = Small(limits: limits, count: -7)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let bytes = try encoder.encode(small)
            #expect(try bytes == encoder.encode(Plain(limits: limits, count: -7)))
            #expect(try JSONDecoder().decode(Small.self, from: bytes) == small)
        }
        // As other encoders write what is missing.
        let bytes = Data(#"{"limits": null, "count": 1}"#.utf8)
        #expect(try JSONDecoder().decode(Small.self, from: bytes) == Small(count: 1))
    }

    @Test func `what takes less memory is a value like any other`() {
        var small = Small()
        #expect(small.limits == nil && small.count == 0)
        small.limits = VehicleLimits()
        small.limits?.alertTextLengthMax = 3
        small.count += 5
        var copy = small
        #expect(copy == small && copy.hashValue == small.hashValue)
        copy.limits?.alertTextLengthMax = 4
        #expect(small.limits?.alertTextLengthMax == 3 && copy.limits?.alertTextLengthMax == 4)
        copy.limits = nil
        #expect(copy == Small(count: 5))
        #expect(MemoryLayout<Small>.size == MemoryLayout<Int>.size + MemoryLayout<Int32>.size)
    }
}
