// A break: a small change of the source under which a test that cites the requirement must turn red. It proves that the
// proof can fail. `npm run test:long -- ledger` applies them one by one to a copy of the tree.
import type { RequirementId } from "../../support/requirements.ts";

export type Break = {
  readonly id: RequirementId;
  /** A file of tests that cites the requirement. */
  readonly test: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
};

type Lines = readonly [from: string, to: string];

/** Breaks of one file of sources, each seen by a file of tests. */
export const breaksOf = (
  file: string,
  rows: readonly (readonly [id: RequirementId, test: string, ...change: Lines])[],
): Break[] => rows.map(([id, test, from, to]) => ({ id, test, file, from, to }));
