internal import WaymarkGateway

/// The bytes that the connections of one event loop hold for input and output, per account and in all.
///
/// Connections have slots, as in ``LoopCore``; accounts have indices, so that no change of a count looks an account up.
struct ByteLedger {
    private struct Account: Hashable {
        var inputByteCount = 0
        var outputByteCount = 0
        /// Connections that hold counted input, by when their unfinished frame began.
        var unfinished = ArrivalOrder<Int>()
    }

    private var accounts = AccountTable<Payer, Account>()
    /// Of all accounts, as ``Account/unfinished``.
    private var unfinished = ArrivalOrder<Int>()
    private(set) var inputByteCount = 0
    private(set) var outputByteCount = 0

    /// Counts a connection, and returns the index of its account.
    mutating func open(_ payer: Payer) -> UInt32 { UInt32(self.accounts.open(payer, Account())) }

    /// Removes a connection, which holds nothing any more.
    mutating func close(_ account: UInt32) { self.accounts.close(Int(account)) }

    /// A connection holds `count` bytes of input now, instead of `old`.
    mutating func setInput(_ slot: Int, _ account: UInt32, from old: UInt32, to count: UInt32) {
        let growth = Int(count) - Int(old)
        self.inputByteCount += growth
        self.accounts[Int(account)].inputByteCount += growth
        if count == 0 {
            self.accounts[Int(account)].unfinished.remove(slot)
            self.unfinished.remove(slot)
        } else if old == 0 || growth < 0 {
            // It shrinks when a frame is finished, so that the present one has just begun.
            self.accounts[Int(account)].unfinished.append(slot)
            self.unfinished.append(slot)
        }
    }

    /// The output of a connection has grown by so many bytes, or shrunk.
    mutating func addOutput(_ growth: Int, to account: UInt32) {
        self.outputByteCount += growth
        self.accounts[Int(account)].outputByteCount += growth
    }

    /// The connection to close because input takes too much memory: the one whose unfinished frame began first, of this account or of
    /// all. nil within the limits.
    func inputVictim(_ account: UInt32, _ limits: LoopCore.Limits) -> (slot: Int, overflow: Output.Overflow)?
    {
        let account = self.accounts[Int(account)]
        if account.inputByteCount > limits.inputBytesPerUserMax, let slot = account.unfinished.first {
            return (slot, .userInput(bytesMax: limits.inputBytesPerUserMax))
        }
        if self.inputByteCount > limits.inputBytesMax, let slot = self.unfinished.first {
            return (slot, .input(bytesMax: limits.inputBytesMax))
        }
        return nil
    }

    /// The limit of output that an account, or all of them, exceed; nil for none.
    func outputOverflow(_ account: UInt32, _ limits: LoopCore.Limits) -> Output.Overflow? {
        if self.accounts[Int(account)].outputByteCount > limits.waitingBytesPerUserMax {
            return .user(bytesMax: limits.waitingBytesPerUserMax)
        }
        return self.outputByteCount > limits.waitingBytesMax ? .loop(bytesMax: limits.waitingBytesMax) : nil
    }
}
