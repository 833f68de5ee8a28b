/** What an editor may choose of a session, as modes and as options: the mode, the model, how much it thinks. Pure. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { fault } from "../../kernel/fault.ts";
import type { InquiryAnswer } from "../../protocol/inquiry.ts";
import {
  type Effort,
  efforts,
  type PermissionMode,
  permissionModes,
  type SettingsPatch,
} from "../../protocol/settings.ts";

export type Choices = {
  readonly applied: NonNullable<InquiryAnswer<"settings">["applied"]>;
  readonly models: InquiryAnswer<"offeredModels">;
  /** Whoever started the agent lets everything run without a question. */
  readonly bypass: "allowed" | "refused";
};

const modeWords: Readonly<Record<PermissionMode, readonly [name: string, says: string]>> = {
  default: ["Ask", "Asks before it changes files or runs commands"],
  acceptEdits: ["Accept edits", "Changes files of the folder without a question"],
  plan: ["Plan", "Reads and plans, and changes nothing"],
  dontAsk: ["Do not ask", "What would need a question is refused"],
  auto: ["Auto", "A model looks at what would be asked; in doubt it asks"],
  bypassPermissions: ["Bypass", "Runs everything without a question, except for what is denied"],
};

/** One that is in force is always among them. */
const offeredModes = ({ applied, bypass }: Choices): PermissionMode[] =>
  permissionModes.filter(
    (mode) => mode === applied.permissionMode || mode !== "bypassPermissions" || bypass === "allowed",
  );

export const modesOf = (choices: Choices): SessionModeState => ({
  currentModeId: choices.applied.permissionMode,
  availableModes: offeredModes(choices).map((id) => ({
    id,
    name: modeWords[id][0],
    description: modeWords[id][1],
  })),
});

/** Nobody has said how much it thinks: what is usual for the model. It can be left, and not be chosen again. */
const usual = "usual";

export const configOf = (choices: Choices): SessionConfigOption[] =>
  offeredOptions(choices).map((option) => ({ type: "select", ...option }));

/** The same in every version but for a name. */
export function offeredOptions(choices: Choices) {
  const { applied, models } = choices;
  const current = models.find(({ model }) => model.id === applied.model);
  const levels = current?.efforts ?? [];
  return [
    {
      id: "mode",
      name: "Permissions",
      category: "mode",
      currentValue: applied.permissionMode,
      options: offeredModes(choices).map((mode) => ({
        value: mode,
        name: modeWords[mode][0],
        description: modeWords[mode][1],
      })),
    },
    {
      id: "model",
      name: "Model",
      category: "model",
      currentValue: current?.name ?? applied.model,
      options: [
        ...(current ? [] : [{ value: applied.model, name: applied.model }]),
        ...models.map(({ name, model }) => ({ value: name, name, description: model.id })),
      ],
    },
    {
      id: "effort",
      name: "Effort",
      category: "thought_level",
      currentValue: applied.effort ?? usual,
      options: [
        ...(applied.effort === undefined ? [{ value: usual, name: "Usual" }] : []),
        ...efforts
          .filter((level) => levels.includes(level) || level === applied.effort)
          .map((level) => ({ value: level, name: level })),
      ],
    },
  ];
}

/** What choosing a value changes; nothing where it is what it was. Throws `usage` for what was not offered. */
export function patchFor(choices: Choices, id: string, value: unknown): SettingsPatch {
  const option = offeredOptions(choices).find((one) => one.id === id);
  if (!option) throw fault("usage", { reason: `There is no option ${id}.` });
  const isOffered = option.options.some((one) => one.value === value);
  if (typeof value !== "string" || !isOffered)
    throw fault("usage", { reason: `${id} cannot be ${String(value)}.` });
  if (value === option.currentValue) return {};
  if (id === "mode") return { permissionMode: value as PermissionMode };
  if (id === "effort") return { effort: value as Effort };
  return { model: choices.models.find(({ name }) => name === value)?.model.id ?? value };
}
