// The requirement ledger: every id that a test may cite, with a short sentence of what it asks.
// `npm run requirements` shows which of them the last `npm test` has proven.
import { browserConsole } from "../ledger/console.ts";
import { desktop } from "../ledger/desktop.ts";
import { field } from "../ledger/field.ts";
import { goals } from "../ledger/goals.ts";
import { harness } from "../ledger/harness.ts";
import { runner } from "../ledger/runner.ts";
import { sdk } from "../ledger/sdk.ts";

/** The groups in the order in which they are printed. */
export const groups = {
  "S0 runner": runner,
  "S1 desktop": desktop,
  "S2 SDK": sdk,
  "S3 console": browserConsole,
  "S4 harness": harness,
  "P field": field,
  "G goals": goals,
} as const;

export const requirements = {
  ...runner,
  ...desktop,
  ...sdk,
  ...browserConsole,
  ...harness,
  ...field,
  ...goals,
} as const;

export type RequirementId = keyof typeof requirements;
