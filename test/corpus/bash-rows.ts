// The rows of the corpus of commands. They are data: nothing here runs them.
import * as fs from "node:fs";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../corpora");

export type CommandRow = {
  readonly id: string;
  readonly command: string;
  readonly class: string;
  readonly readOnly: boolean;
  readonly writesOutsideCwd: boolean;
  readonly network: boolean;
  readonly destructive: boolean;
  readonly simpleCommands: readonly string[];
  readonly wrapped: readonly string[];
  readonly autoApprove: "must" | "may" | "mustNot";
};

export type RuleRow = {
  readonly id: string;
  readonly rule: string;
  readonly kind: "allow" | "deny";
  readonly command: string;
  readonly mustMatch: boolean;
  readonly askOk?: boolean;
};

export function readBashRows(): { commands: CommandRow[]; rules: RuleRow[] } {
  const rows = fs
    .globSync("bash-*.jsonl", { cwd: folder })
    .sort()
    .flatMap((name) => fs.readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean))
    .map((line): CommandRow | RuleRow => JSON.parse(line));
  return {
    commands: rows.filter((row): row is CommandRow => !("rule" in row)),
    rules: rows.filter((row): row is RuleRow => "rule" in row),
  };
}
