/** `keel auth`: keys that Keel keeps. A key comes on standard input, never as an argument that others can see. */

import { readSettings } from "../../../app/compose/settings.ts";
import { oneWord, usage } from "../../../app/flags/arguments.ts";
import { forgetKey, keepKey, keyStatus } from "../../../app/maintenance/keys.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { shownUrl } from "../../../kernel/shown-url.ts";
import type { CommandRun } from "../command.ts";
import { readPrompt } from "../print/prompt.ts";

export const setKey: CommandRun<{ file: boolean; "base-url"?: string | undefined }> = async (
  { values, positionals },
  context,
) => {
  const provider = oneProvider(positionals);
  if (context.input.isTTY) throw usage(`Send the key on standard input: keel auth set ${provider} < FILE`);
  const key = ((await readPrompt([], context)) ?? "").trim();
  const place = await keepKey(context, {
    provider,
    key,
    baseUrl: values["base-url"],
    ...(values.file ? { in: "file" as const } : {}),
  });
  context.err.line(
    `keel: the key of ${provider} is kept in ${place === "keychain" ? "the keychain" : place}.`,
  );
};

export const removeKey: CommandRun = async ({ positionals }, context) => {
  const provider = oneProvider(positionals);
  const wasThere = await forgetKey(context, provider);
  context.err.line(`keel: ${wasThere ? "the key is removed" : "no key was kept"}: ${provider}.`);
  return wasThere ? exitCodes.ended : exitCodes.turnFailed;
};

export const showKeys: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const { settings, env } = await readSettings(context);
  const { rows, problems } = await keyStatus(context, { settings, env });
  for (const problem of problems) context.err.line(`keel: ${problem}`);
  if (values.json) context.out.line(toLine({ ...loginOf(rows), providers: rows }));
  else
    for (const { provider, from, baseUrl, ends } of rows)
      context.out.line(`${provider.padEnd(12)}${from}${ends ? ` (…${ends})` : ""}, for ${shownUrl(baseUrl)}`);
};

/** As programs of the interface look for it, before what Keel says of each provider. */
function loginOf(rows: Awaited<ReturnType<typeof keyStatus>>["rows"]) {
  const [first] = rows.filter(({ from }) => from !== "none");
  return {
    loggedIn: first !== undefined,
    authMethod: first ? "api_key" : "none",
    apiProvider: first?.provider ?? null,
  };
}

const oneProvider = (positionals: readonly string[]): string =>
  oneWord(positionals, "Name one provider, such as anthropic.");
