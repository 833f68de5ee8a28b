/** Diagnostics that know what is wrong by a function of yours: which errors a text has. */
import type { Diagnostics } from "../ports/diagnostics.ts";

export type FakeDiagnostics = Diagnostics & {
  /** Every text that was looked at, in its order. */
  readonly looked: { readonly path: string; readonly after: string }[];
};

/** Undefined: nobody looks after such a file. */
export function fakeDiagnostics(
  errorsOf: (text: string, path: string) => readonly string[] | undefined,
): FakeDiagnostics {
  const looked: { path: string; after: string }[] = [];
  return {
    looked,
    async watch({ path, before }) {
      const known = errorsOf(before ?? "", path);
      if (!known) return undefined;
      return {
        async newErrors(after) {
          looked.push({ path, after });
          const errors = (errorsOf(after, path) ?? []).filter((error) => !known.includes(error));
          return { errors, omitted: 0, notes: [] };
        },
      };
    },
    close: async () => undefined,
  };
}
