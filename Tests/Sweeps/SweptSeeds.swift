import Foundation

/// The seeds that a search runs, from `first` on: `WAYMARK_SEEDS` of them, or `count` by default, or the part `WAYMARK_SEEDS_PART` of these; or
/// only `WAYMARK_SEED`.
package func sweptSeeds(_ count: UInt64, from first: UInt64 = 0) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["WAYMARK_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    let wanted = environment["WAYMARK_SEEDS"].flatMap { UInt64($0) } ?? count
    let all = (0..<wanted).map { first + $0 }
    return SweepPart("WAYMARK_SEEDS_PART")?.cases(of: all) ?? all
}
