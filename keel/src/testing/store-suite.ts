/**
 * What every store must do, as cases for any test runner:
 *
 *     for (const { name, run } of storeSuite({ open })) test(name, run);
 *
 * Each case opens a store of its own and throws when the store breaks its word.
 */
import type { StoreUnderTest } from "./store-suite-events.ts";
import { logCases } from "./store-suite-logs.ts";
import { sessionCases } from "./store-suite-sessions.ts";

export type StoreCase = { readonly name: string; run(): Promise<void> };

export function storeSuite({ open }: { open(): Promise<StoreUnderTest> }): StoreCase[] {
  return Object.entries({ ...logCases, ...sessionCases }).map(([name, check]) => ({
    name,
    run: async () => {
      const subject = await open();
      try {
        await check(subject);
      } finally {
        await subject.close();
      }
    },
  }));
}
