/**
 * A broken promise of the system: something that must not be passed over. Expected failures are values instead.
 * Every fault has a code from one table (`faults.ts`), a sentence for the person, a hint and an exit code.
 */
import { type FaultCode, faults } from "./faults.ts";

export type FaultDetail = Readonly<Record<string, string | number | boolean | null>>;

/** A fault as data: what goes into the log and over a wire. Never a stack, never a secret. */
export type FaultData = {
  readonly code: FaultCode;
  readonly message: string;
  readonly detail?: FaultDetail | undefined;
};

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly detail: FaultDetail;

  constructor(code: FaultCode, message: string, detail: FaultDetail, cause: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.detail = detail;
  }

  get hint(): string {
    return hintOf(this);
  }

  get exitCode(): number {
    return faults[this.code].exit;
  }

  toData(): FaultData {
    return { code: this.code, message: this.message, detail: this.detail };
  }
}

/** What there is to do, also where the fault itself is far away. */
export const hintOf = ({ code, detail = {} }: Pick<FaultData, "code" | "detail">): string =>
  filled(faults[code].hint, detail);

/** The `{names}` of a sentence. */
type NamesIn<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

type RowOf<C extends FaultCode> = (typeof faults)[C];
type Beside<R> = R extends { readonly beside: readonly (infer Name extends string)[] } ? Name : never;

/** What a fault is thrown with: all that its sentence and its hint name, and nothing that nobody reads. */
type DetailOf<C extends FaultCode> = {
  readonly [name in NamesIn<RowOf<C>["says" | "hint"]>]: FaultDetail[string];
} & { readonly [name in Beside<RowOf<C>>]?: FaultDetail[string] | undefined } & { readonly cause?: unknown };

/** `fault("log_unwritable", { path, reason, cause })`: the table has the sentence, the detail fills its `{names}`. */
export function fault<C extends FaultCode>(
  code: C,
  ...[given]: NamesIn<RowOf<C>["says" | "hint"]> extends never
    ? [detail?: DetailOf<C>]
    : [detail: DetailOf<C>]
): Fault {
  const { cause, ...detail }: { readonly cause?: unknown } = given ?? {};
  const plain: Record<string, string | number | boolean | null> = {};
  for (const [key, value] of Object.entries(detail)) if (isPlain(value)) plain[key] = value;
  return new Fault(code, filled(faults[code].says, plain), plain, cause);
}

const filled = (sentence: string, detail: FaultDetail): string =>
  sentence.replace(/\{(\w+)\}/g, (_, key: string) => String(detail[key] ?? "unknown"));

/** Any file can be the one too many, also a part of the program that is read when it is first used. */
const filesUsedUp: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);

/** Turns anything thrown into a fault, keeping a fault as it is. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = filesUsedUp.has(codeOf(thrown) ?? "") ? "files_used_up" : "unexpected";
  return fault(code, { reason: reasonOf(thrown), cause: thrown });
}

/** The words of whatever was thrown, for a sentence of the catcher's own. */
export const reasonOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The code of a call of the system that failed, such as `ENOENT`. */
export const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
