/** An expected outcome as a value: either it worked, or it says why not. */
export type Result<T, E = string> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });
export const failed = <E>(error: E): Result<never, E> => ({ ok: false, error });

/** A no in words, beside a yes of any shape: `{ ok: true; file: … } | Refused`. */
export type Refused = { readonly ok: false; readonly why: string };
export const no = (why: string): Refused => ({ ok: false, why });

/** Closes an exhaustive switch: adding a member to the union makes every such switch fail to compile. */
export function never(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
