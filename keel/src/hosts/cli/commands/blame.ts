/** `keel blame`: which session, message and call made a line. Nothing runs. */
import path from "node:path";
import { oneWord, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { blameFile } from "../../../app/time/blame-file.ts";
import { toLine } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { CommandRun } from "../command.ts";

export const blame: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const given = oneWord(positionals, "Name a line: FILE:LINE, or FILE:FROM-TO.");
  const [, name, from, to = from] = /^(.+):(\d{1,9})(?:-(\d{1,9}))?$/.exec(given) ?? [];
  if (name === undefined) throw usage("Name a line: FILE:LINE, or FILE:FROM-TO.");
  await using home = openHome(context);
  const lines = await blameFile(
    { sessions: home.sessions, conversations: () => home.conversations() },
    { file: path.resolve(context.cwd, name), from: Number(from), to: Number(to) },
  );
  if (values.json) {
    const rows = lines.map(({ edit, ...line }) => {
      if (!edit) return { ...line, edit: null };
      const { hunks: _, ...facts } = edit;
      return { ...line, edit: facts };
    });
    return context.out.line(toLine(rows));
  }
  for (const { line, text, edit, isLikely } of lines) {
    context.out.line(visible(`${line}: ${text}`));
    if (!edit) context.out.line("  by no recorded edit");
    else {
      const when = (isoTime(edit.at) ?? "").slice(0, 16).replace("T", " ");
      const how = isLikely ? "most likely " : "";
      context.out.line(
        `  ${how}session ${edit.session}  ${when}  ${edit.tool} ${edit.callId}, event ${edit.seq}`,
      );
      context.out.line(`  "${visible(shorten(edit.said.replaceAll("\n", " "), 100))}"`);
    }
  }
};
