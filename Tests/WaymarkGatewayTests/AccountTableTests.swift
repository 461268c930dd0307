import Testing
import WaymarkGateway

@Suite struct AccountTableTests {
    @Test func `uses of one key share a value until the last one ends`() {
        var table = AccountTable<String, Int>()
        let (first, second) = (table.open("a", 1), table.open("a", 2))
        #expect(first == second && table.useCount(of: first) == 2)
        table[first] += 10
        table.close(first)
        let value = table[second]
        #expect(value == 11 && table.useCount(of: second) == 1)
        table.close(second)
        let anew = table.open("a", 3)
        #expect(table[anew] == 3)
    }

    @Test func `an index without uses is given to another key`() {
        var table = AccountTable<String, Int>()
        let (first, second) = (table.open("a", 1), table.open("b", 2))
        table.close(first)
        let third = table.open("c", 3)
        #expect(third == first && table[third] == 3 && table[second] == 2)
    }
}
