/// Values of keys that are in use, each found by an index: a key is hashed only when its use begins and ends.
///
/// Inlinable, as all generic code that other modules use for each connection: otherwise types are looked up at run time.
@usableFromInline
package struct AccountTable<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable, Hashable {
    @usableFromInline
    struct Account: Sendable, Hashable {
        @usableFromInline let key: Key
        @usableFromInline var useCount = 1
        @usableFromInline var value: Value

        @inlinable
        init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// One that is not used may be given to another key.
    @usableFromInline var accounts: [Account] = []
    @usableFromInline var indices: [Key: Int] = [:]
    @usableFromInline var freeIndices: [Int] = []

    @inlinable package init() {}

    /// The value of a key that is in use.
    @inlinable package subscript(index: Int) -> Value {
        get { self.accounts[index].value }
        _modify { yield &self.accounts[index].value }
    }

    @inlinable package func key(of index: Int) -> Key { self.accounts[index].key }

    /// How often a key is used.
    @inlinable package func useCount(of index: Int) -> Int { self.accounts[index].useCount }

    /// Begins a use of a key, which has `initial` as its value if it was not used before, and returns its index.
    @inlinable
    package mutating func open(_ key: Key, _ initial: @autoclosure () -> Value) -> Int {
        if let known = self.indices[key] {
            self.accounts[known].useCount += 1
            return known
        }
        let account = Account(key: key, value: initial())
        let index: Int
        if let free = self.freeIndices.popLast() {
            self.accounts[free] = account
            index = free
        } else {
            index = self.accounts.count
            self.accounts.append(account)
        }
        self.indices[key] = index
        return index
    }

    /// Ends a use of a key.
    @inlinable
    package mutating func close(_ index: Int) {
        self.accounts[index].useCount -= 1
        guard self.accounts[index].useCount == 0 else { return }
        self.indices[self.accounts[index].key] = nil
        self.freeIndices.append(index)
        // Gives the memory of a peak back.
        if self.indices.isEmpty { (self.accounts, self.freeIndices, self.indices) = ([], [], [:]) }
    }
}

extension AccountTable.Account: Codable where Key: Codable, Value: Codable {}
extension AccountTable: Codable where Key: Codable, Value: Codable {}
