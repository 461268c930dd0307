/// The features that are withheld, and why.
package struct WithheldFields: FieldObject {
    /// Names of features and of reasons.
    let reasons: [String: String]

    package static let fields: [FieldKey<WithheldFields>] = WithheldNames.features.map { feature in
        .name(feature, of: WithheldNames.reasons) { $0.reasons[feature] }
    }
}
