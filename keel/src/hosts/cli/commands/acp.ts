/** `keel acp`: from its options to the host, which is loaded only now. */
import { type Arguments, type CliOptions, oneOf } from "../../../app/flags/arguments.ts";
import { permissionModes } from "../../../protocol/settings.ts";
import type { Context } from "../context.ts";

export const acpOptions = {
  model: { kind: "text", short: "m", value: "NAME", says: "As for keel -p" },
  "permission-mode": { kind: "text", value: "MODE", says: "As for keel -p" },
  "allow-dangerously-skip-permissions": {
    kind: "flag",
    says: "The editor may choose to let everything run without a question",
  },
  protocol: {
    kind: "text",
    value: "VERSION",
    says: "The newest version to speak: 1 (the default), or 2, a draft",
  },
} as const satisfies CliOptions;

export async function startAcp(
  { values }: Pick<Arguments<typeof acpOptions>, "values">,
  context: Context,
): Promise<number> {
  const { run } = await import("../../acp/main.ts");
  return run(
    {
      model: values.model,
      permissionMode: oneOf("permission-mode", values["permission-mode"], permissionModes),
      bypass: values["allow-dangerously-skip-permissions"] ? "allowed" : "refused",
      protocol: oneOf("protocol", values.protocol, ["1", "2"]) === "2" ? 2 : 1,
    },
    context,
  );
}
