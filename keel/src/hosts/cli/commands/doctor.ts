/** `keel doctor`: what Keel finds here. Ends with the set-up code when something keeps it from answering. */

import { usage } from "../../../app/flags/arguments.ts";
import { examine, type Finding } from "../../../app/maintenance/doctor.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";

type DoctorValues = { json: boolean } & { [name in "model" | "bundle" | "session"]?: string | undefined };

const marks: Readonly<Record<Finding["state"], string>> = { ok: "ok", note: "--", bad: "!!" };

export const doctor: CommandRun<DoctorValues> = async ({ values }, context) => {
  const findings = await examine({ ...context, model: values.model });
  if (values.bundle === undefined && values.session !== undefined)
    throw usage("--session says whose log goes into the --bundle.");
  if (values.bundle !== undefined) {
    const { writeBundle } = await import("./bundle.ts");
    const place = await writeBundle(findings, { file: values.bundle, session: values.session }, context);
    context.err.line(`keel: written to ${place}. Look through it before you send it to anybody.`);
    return exitCodes.ended;
  }
  context.out.line(values.json ? toLine(findings) : findings.map(row).join("\n"));
  return findings.some(({ state }) => state === "bad") ? exitCodes.setUp : exitCodes.ended;
};

const row = ({ name, state, says }: Finding): string =>
  `${marks[state]}  ${name.padEnd(8)}  ${visible(says)}`;
