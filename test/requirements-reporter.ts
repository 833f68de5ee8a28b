// Filled in with the requirement ledger.
export default class RequirementsReporter {}
