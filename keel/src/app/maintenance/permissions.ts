/** `keel permissions`: the rules of every source, added and removed by their words. */
import { ruleLists } from "../../config/settings/edit-settings.ts";
import type { LayerSource } from "../../config/settings/layers.ts";
import { fault } from "../../kernel/fault.ts";
import { dangerOf } from "../../policy/danger.ts";
import { parseRule } from "../../policy/rules.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { RuleList } from "../../protocol/settings.ts";
import { ruleForms } from "../compose/rules.ts";
import { readSettings } from "../compose/settings.ts";
import {
  type SettingsLocation,
  unwriteRule,
  type WritableSource,
  type WrittenSetting,
  writeRule,
} from "./settings-files.ts";

export type SettingsRuleRow = {
  readonly list: RuleList;
  readonly rule: string;
  readonly source: LayerSource;
  readonly file?: string | undefined;
  readonly state: "counts" | "left-out" | "not-a-rule";
  readonly why?: string | undefined;
  /** What an allow rule lets through beyond what it seems to say. */
  readonly danger?: string | undefined;
};

/** Deny before ask before allow, as they are asked; in each the strongest source first. */
export async function listRules(
  place: SettingsLocation,
): Promise<{ rows: readonly SettingsRuleRow[]; notices: readonly LogNotice[] }> {
  const { entries, notices } = await readSettings(place);
  const rows = ruleLists.toReversed().flatMap((list) =>
    entries
      .filter(({ path: [group, name] }) => group === "permissions" && name === list)
      .map(({ value, source, file, state }): SettingsRuleRow => {
        const row = { list, rule: String(value), source, file };
        if (state.kind === "left-out") return { ...row, state: "left-out", why: state.why };
        const parsed = parseRule(row.rule);
        if (!parsed) return { ...row, state: "not-a-rule" };
        const danger = list === "allow" ? dangerOf(parsed) : undefined;
        return { ...row, state: "counts", ...(danger === undefined ? {} : { danger }) };
      }),
  );
  return { rows, notices };
}

/** Throws `usage` for what is no rule, and `settings_unwritable`. */
export async function addPermission(
  place: SettingsLocation,
  { rule, list, to }: { rule: string; list: RuleList; to: WritableSource },
): Promise<WrittenSetting & { readonly danger?: string | undefined }> {
  const parsed = parseRule(rule);
  if (!parsed)
    throw fault("usage", {
      reason: `${JSON.stringify(rule)} is not a permission rule. ${ruleForms}`,
    });
  const danger = list === "allow" ? dangerOf(parsed) : undefined;
  return { ...(await writeRule(place, to, { list, rule: parsed.text })), danger };
}

export type RemovedRule = { readonly file: string; readonly lists: readonly RuleList[] };

/** From the named sources, wherever it stands in them. Throws `settings_unwritable`. */
export async function removePermission(
  place: SettingsLocation,
  { rule, from }: { rule: string; from: readonly WritableSource[] },
): Promise<RemovedRule[]> {
  const { rows } = await listRules(place);
  const removed: RemovedRule[] = [];
  for (const source of from) {
    // A file that does not hold it is not touched, nor made.
    if (!rows.some((row) => row.source === source && row.rule === rule.trim())) continue;
    const result = await unwriteRule(place, source, rule.trim());
    if (result.lists.length > 0) removed.push(result);
  }
  return removed;
}
