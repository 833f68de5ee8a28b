/** `keel doctor`: what Keel finds here. Ends with the set-up code when something keeps it from answering. */
import { examine, type Finding } from "../../app/doctor.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { toLine } from "../../kernel/json.ts";
import { visible } from "../../view/visible.ts";
import type { Context } from "./context.ts";

const marks: Readonly<Record<Finding["state"], string>> = { ok: "ok", note: "--", bad: "!!" };

export async function doctor(
  { values }: { values: { json: boolean; model?: string | undefined } },
  context: Context,
): Promise<number> {
  const findings = await examine({ ...context, model: values.model });
  context.out.line(values.json ? toLine(findings) : findings.map(row).join("\n"));
  return findings.some(({ state }) => state === "bad") ? exitCodes.setUp : exitCodes.ended;
}

const row = ({ name, state, says }: Finding): string =>
  `${marks[state]}  ${name.padEnd(8)}  ${visible(says)}`;
