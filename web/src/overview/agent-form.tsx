/** What is said of a new agent: which engine drives it, what it is, and what it is told first. The server says what there is. */
import type { AnswerTo, EngineEntry, JsonObject, NewWorker, PermissionMode } from "keel/protocol";
import { visible } from "keel/view";
import { Fragment, type ReactElement, useEffect, useId, useState } from "react";
import { filesIn, type Picture, takeFiles } from "../composer/pictures.ts";
import { Attachments } from "../displays/attachments.tsx";
import { useWorld, type World } from "../live/world.ts";
import { words } from "../words.ts";
import { TextField } from "./text-field.tsx";

type Choices = AnswerTo<"choices">;
type Field = EngineEntry["fields"][number];

const modes: readonly PermissionMode[] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"];

export type AgentWish = {
  /** Empty: the one that the server has first. */
  readonly engine: string;
  /** Empty: none of the kinds, as usual. */
  readonly kind: string;
  readonly model: string;
  readonly mode: PermissionMode;
  readonly command: string;
  readonly prompt: string;
  readonly pictures: readonly Picture[];
};

export const plainAgent: AgentWish = {
  engine: "",
  kind: "",
  model: "",
  mode: "default",
  command: "",
  prompt: "",
  pictures: [],
};

const engineOf = ({ engine }: AgentWish, { engines }: Choices): EngineEntry | undefined =>
  engines.find(({ name }) => name === engine) ?? engines[0];

/** Only what its engine asks for is said. */
export function workerOf(wish: AgentWish, choices: Choices): NewWorker {
  const engine = engineOf(wish, choices);
  const said = (field: Field, text: string): string => (engine?.fields.includes(field) ? text.trim() : "");
  const [kind, model, command] = [
    said("kind", wish.kind),
    said("model", wish.model),
    said("command", wish.command),
  ];
  const options: JsonObject = {
    ...(engine?.fields.includes("mode") ? { permissionMode: wish.mode } : {}),
    ...(kind === "" ? {} : { agent: kind }),
    ...(model === "" ? {} : { model }),
  };
  return {
    kind: "agent",
    name: nameOf(engine, kind),
    ...(engine ? { engine: engine.name } : {}),
    ...(command === "" ? {} : { command: command.split(/\s+/) }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    // With images it is said as soon as there is a session.
    ...(wish.prompt.trim() !== "" && wish.pictures.length === 0 ? { prompt: wish.prompt.trim() } : {}),
  };
}

const nameOf = (engine: EngineEntry | undefined, kind: string): string =>
  kind !== ""
    ? kind
    : engine === undefined || engine.name === "keel"
      ? words.workers.agent
      : sayEngine(engine);

const sayEngine = ({ name }: EngineEntry): string => {
  const known: Readonly<Record<string, string>> = words.create.engines;
  return Object.hasOwn(known, name) ? (known[name] ?? name) : name;
};

/** Images cannot stand in a first prompt: they are said to the session that there is then. */
export function sayFirst(world: World, session: string | undefined, { pictures, prompt }: AgentWish): void {
  if (pictures.length === 0 || session === undefined) return;
  const text = prompt.trim() === "" ? [] : [{ type: "text" as const, text: prompt.trim() }];
  void world.say(session, [...pictures, ...text], "now");
}

const waitMs = 200;

/** As the server has them for this folder; those of before while it is asked, or where it knows no such folder. */
export function useChoices(cwd: string): Choices {
  const { client } = useWorld();
  const [choices, setChoices] = useState<Choices>({ engines: [], agents: [], models: [] });
  const folder = cwd.trim();
  useEffect(() => {
    let isWanted = true;
    const ask = (question: { cwd?: string }): Promise<void> =>
      client.workspaces.choices(question).then((found) => {
        if (isWanted) setChoices(found);
      });
    const timer = setTimeout(() => {
      ask(folder === "" ? {} : { cwd: folder })
        .catch(() => ask({}))
        .catch(() => undefined);
    }, waitMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, folder]);
  return choices;
}

type AgentFormProps = {
  readonly wish: AgentWish;
  readonly choices: Choices;
  readonly onChange: (change: (before: AgentWish) => AgentWish) => void;
  readonly onProblem: (why: string) => void;
};

/** What it is told first, with what was pasted or dropped there. */
export function PromptField({ wish, onChange, onProblem }: Omit<AgentFormProps, "choices">): ReactElement {
  const take = (event: { preventDefault(): void }, data: DataTransfer): void => {
    const files = filesIn(data);
    if (files.length === 0) return;
    event.preventDefault();
    void takeFiles(files).then((taken) => {
      onProblem(taken.problem);
      onChange((before) => ({
        ...before,
        pictures: [...before.pictures, ...taken.pictures],
        prompt:
          taken.text === ""
            ? before.prompt
            : [before.prompt.trimEnd(), taken.text].filter(Boolean).join("\n\n"),
      }));
    });
  };
  return (
    <>
      <label className="field">
        <span className="label">{words.create.prompt}</span>
        <textarea
          className="input"
          rows={3}
          value={wish.prompt}
          placeholder={words.create.promptHint}
          onChange={({ target }) => onChange((before) => ({ ...before, prompt: target.value }))}
          onPaste={(event) => take(event, event.clipboardData)}
          onDrop={(event) => take(event, event.dataTransfer)}
        />
      </label>
      <Attachments parts={wish.pictures} />
    </>
  );
}

/** The engine, and what it asks for. */
export function AgentFields({ wish, choices, onChange }: Omit<AgentFormProps, "onProblem">): ReactElement {
  const id = useId();
  const engine = engineOf(wish, choices);
  const set = (change: Partial<AgentWish>): void => onChange((before) => ({ ...before, ...change }));
  const field: Readonly<Record<Field, () => ReactElement>> = {
    command: () => (
      <TextField
        label={words.create.command}
        value={wish.command}
        isNeeded
        onChange={(command) => set({ command })}
      />
    ),
    kind: () => (
      <label className="field">
        <span className="label">{words.create.kind}</span>
        <select className="input" value={wish.kind} onChange={({ target }) => set({ kind: target.value })}>
          <option value="">{words.create.usualKind}</option>
          {choices.agents.map(({ name }) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
        <span className="hint">
          {visible(choices.agents.find(({ name }) => name === wish.kind)?.description ?? "")}
        </span>
      </label>
    ),
    model: () => (
      <>
        <TextField
          label={words.create.model}
          hint={words.create.modelHint}
          value={wish.model}
          list={`${id}-models`}
          onChange={(model) => set({ model })}
        />
        <datalist id={`${id}-models`}>
          {choices.models.map(({ id: model, name }) => (
            <option key={model} value={model} label={visible(name)} />
          ))}
        </datalist>
      </>
    ),
    mode: () => (
      <label className="field">
        <span className="label">{words.composer.mode}</span>
        <select
          className="input"
          value={wish.mode}
          onChange={({ target }) => set({ mode: target.value as PermissionMode })}
        >
          {modes.map((mode) => (
            <option key={mode} value={mode}>
              {words.modes[mode]}
            </option>
          ))}
        </select>
        <span className="hint">{words.modeHints[wish.mode]}</span>
      </label>
    ),
  };
  return (
    <>
      <label className="field">
        <span className="label">{words.create.engine}</span>
        <select
          className="input"
          value={engine?.name ?? ""}
          disabled={!engine}
          onChange={({ target }) => set({ engine: target.value })}
        >
          {choices.engines.map((one) => (
            <option key={one.name} value={one.name}>
              {sayEngine(one)}
            </option>
          ))}
        </select>
      </label>
      {engine?.fields.map((name) => (
        <Fragment key={name}>{field[name]()}</Fragment>
      ))}
    </>
  );
}
