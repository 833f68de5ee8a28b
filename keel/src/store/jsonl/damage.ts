/** What was found wrong with a log, gathered while it is read, and told as one warning. Nothing is dropped in silence. */
import { fault } from "../../kernel/fault.ts";
import { shorten } from "../../kernel/text.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { Hole, Ordered } from "./order.ts";
import type { Scan } from "./scan.ts";

export class Damage {
  readonly #path: string;
  #parts: string[] = [];
  readonly #invalid = new Map<number, string>();
  readonly #foreign = new Set<number>();
  readonly #unknown = new Map<number, string>();
  #kept: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** What the scan and the order of its records say. `tornBytes` is what stands behind the last whole record. */
  found({ scan, ordered, tornBytes }: { scan: Scan; ordered: Ordered; tornBytes: number }): void {
    const { lost, joined } = scan;
    this.#parts = [
      scan.size === 0 && "it is empty",
      scan.size > 0 && scan.newest === 0 && "its first line, which names its format, is missing",
      lost.stretches > 0 &&
        `${count(lost.stretches, "stretch", "stretches")} of it (${lost.bytes} bytes, the first at byte ${lost.firstOffset}) cannot be read`,
      ordered.missing.length > 0 && sayMissing(ordered.missing),
      joined > 0 && `${count(joined, "line holds", "lines hold")} more than one record`,
      ordered.repeated > 0 && `${count(ordered.repeated, "record stands", "records stand")} there twice`,
      ordered.displaced > 0 && `${count(ordered.displaced, "record is", "records are")} out of order`,
      tornBytes > 0 && `its last record was cut off (${tornBytes} bytes)`,
    ].filter((part) => part !== false);
  }

  /** The original stands there, byte for byte. */
  keptIn(path: string): void {
    this.#kept = path;
  }

  /** A record that is whole but not what its type says. */
  invalid(seq: number, reason: string): void {
    this.#invalid.set(seq, reason);
  }

  /** A record that names another session. */
  foreign(seq: number): void {
    this.#foreign.add(seq);
  }

  /** A record of a type that a newer Keel wrote. */
  unknown(seq: number, type: string): void {
    this.#unknown.set(seq, type);
  }

  /** At most one warning and one remark, however much was found. */
  notices(): LogNotice[] {
    const [first] = this.#invalid;
    const parts = [
      ...this.#parts,
      first &&
        `${count(this.#invalid.size, "record is", "records are")} not valid (${first[0]}: ${shorten(first[1], 120)})`,
      this.#foreign.size > 0 &&
        `${count(this.#foreign.size, "record names", "records name")} another session`,
    ].filter((part) => typeof part === "string");
    const notices: LogNotice[] = [];
    if (parts.length > 0) {
      const { code, message } = fault("log_damaged", { path: this.#path, reason: `${parts.join("; ")}.` });
      const where = this.#kept ? `the original stands in ${this.#kept}` : "the file was left as it is";
      notices.push({ level: "warning", code, text: `${message} Everything else was read; ${where}.` });
    }
    if (this.#unknown.size > 0) {
      const types = [...new Set(this.#unknown.values())].slice(0, 3).join(", ");
      const text = `${count(this.#unknown.size, "record", "records")} of a newer Keel (${shorten(types, 120)}) in ${this.#path} stay there and are passed over.`;
      notices.push({ level: "info", text });
    }
    return notices;
  }
}

function sayMissing(holes: readonly Hole[]): string {
  const total = holes.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const which = holes.slice(0, 3).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = holes.length > which.length ? " and more" : "";
  return `${count(total, "record is", "records are")} missing (${which.join(", ")}${more})`;
}

const count = (many: number, one: string, more: string): string => `${many} ${many === 1 ? one : more}`;
