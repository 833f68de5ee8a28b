/** Opens a session: the composition root. Hosts see only the handle that comes out of it. */

import { sessionArtifacts } from "../agents/tree.ts";
import { branchOf } from "../config/definitions/git-head.ts";
import { breakdownOf } from "../core/context/breakdown.ts";
import { promptFor } from "../core/context/request.ts";
import { hasWork } from "../core/next-step.ts";
import { modelOf } from "../core/state/state.ts";
import type { EnvelopeListener } from "../engine/journal.ts";
import { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";

import type { Log, LogNotice } from "../ports/store.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../protocol/event/envelope.ts";
import type { TakeAtOnce } from "../protocol/handle.ts";
import type { Inquire, RunningTask, SessionFacts } from "../protocol/inquiry.ts";
import type { Bill, ContextBreakdown } from "../protocol/usage.ts";
import { attachTo, overOf, SettledAsks } from "./attach.ts";
import { type CloseReason, closeAll, UndoList } from "./close.ts";
import type { HomeResources } from "./compose/home-resources.ts";
import { type HostFold, HostFolds } from "./compose/host-folds.ts";
import { mustKnowPrices } from "./compose/limits.ts";
import type { McpControl } from "./compose/mcp.ts";
import { type MemoryRegistration, memoryAdmission } from "./compose/memory-budget.ts";
import { allowedMode } from "./compose/mode.ts";
import { lateModel, type OpenModel, openModel, unmetBy, withModel } from "./compose/model.ts";
import type { OwnTool } from "./compose/own-tools.ts";
import { composeSession, type SessionComposition, startOf } from "./compose/session-composition.ts";
import { inputHandler } from "./input/input-handler.ts";
import { factsOf, namesOf, runningTasks, wishPlace } from "./inquiries/facts.ts";
import type { FileContents, HostCall, InquiredSession } from "./inquiries/inquiries.ts";
import { lateLetters } from "./letters/late-letters.ts";
import type { TakeLetter } from "./letters/letter.ts";
import type { SettingsTarget, WantedChange } from "./maintenance/change-permissions.ts";
import type { WritableSource, WrittenSetting } from "./maintenance/settings-files.ts";
import type { OpenOptions } from "./options.ts";
import { adjust, beginWhereNone, openLog } from "./sessions/which-session.ts";

/** An open session, as hosts see it. */
export type OpenSession = {
  readonly id: string;
  /** Where its log stands, if it is on disk. */
  readonly location: string | undefined;
  readonly info: SessionFacts;
  /** What a person should know at the start: a rule that is none, a damaged log, a wrong setting. */
  readonly notices: readonly LogNotice[];
  submit(command: Command): Promise<Receipt>;
  onEvent(listener: EnvelopeListener): () => void;
  /** Questions that nobody has answered yet, also those of an earlier process. */
  openAsks(): readonly Ask[];
  /** Whether a turn is unfinished or an input waits. */
  hasWork(): boolean;
  /** Goes on with what is unfinished. */
  run(): Promise<void>;
  /** Resolves when nothing is left to do. Throws what stopped the work, such as `log_unwritable`. */
  idle(): Promise<void>;
  /** Keeps an allow rule in a settings file, for sessions to come. Throws `settings_unwritable`. */
  keepRule(rule: string, to: WritableSource): Promise<WrittenSetting>;
  /** Settings into a file, or as flags; what can hold at once does. Throws as `readChange` and `changePermissions` do. */
  updateSettings(to: SettingsTarget, settings: Record<string, unknown>): Promise<void>;
  /** Undefined for a file that the model may not read unasked either. */
  readFile(name: string, limits: { maxBytes: number }): Promise<FileContents | undefined>;
  /** What the table of inquiries has. Throws `usage` for what is not in it. */
  readonly inquire: Inquire;
  /** The conversation holds the file as it was at that time; one that changed since is left as it is. */
  seedRead(name: string, modifiedMs: number): Promise<void>;
  /** Calls a tool of an MCP server. Throws `usage` for what rules deny, and for a tool that is none. */
  callTool(call: HostCall): Promise<ToolOutcome>;
  /** Reads what people and projects bring in files once more; the model hears of new skills with the next request. */
  reload(): Promise<void>;
  /** The names of all tools that can be called now. */
  toolNames(): string[];
  /** Other tools of the program, in place of those that it gave before. */
  setOwnTools(tools: readonly OwnTool[]): void;
  /** Changes what this session may do, and keeps it where it is wanted. Throws as `changePermissions` does. */
  changePermissions(changes: readonly WantedChange[], more?: { except?: string }): Promise<void>;
  bill(): Bill;
  /** An estimate of what the next request holds. */
  contextTokens(): number;
  /** The same, by kind. */
  context(): ContextBreakdown;
  /** What runs in the background now. */
  tasks(): readonly RunningTask[];
  /** Its MCP servers. */
  readonly mcp: McpControl;
  /** Takes messages of other sessions; absent where none come in. */
  readonly takeLetter?: TakeLetter | undefined;
  /** Why a file of the working folder would not be attached to an input that mentions it; undefined when it would. */
  whyNotAttached(path: string): Promise<string | undefined>;
  /** See `Home.attach`. */
  attach(afterSeq?: number, signal?: AbortSignal, take?: TakeAtOnce): AsyncIterable<Envelope>;
  /** The number of the last event that listeners have heard of. */
  lastSeq(): number;
  /** The durable events after `seq`, from the log. */
  history(after?: number): AsyncIterable<Durable>;
  /** What a host makes of them so far; kept over the end of the session where that is worth it. */
  fold<M>(wanted: HostFold<M>): Promise<M>;
  /** Whether the conversation is in memory; one that is not comes back when it is used. */
  isLoaded(): boolean;
  /** Lets go of what the log can tell again. False while there is something to do. */
  unload(): Promise<boolean>;
  /** Ends the session gracefully; a second call joins the first. */
  close(reason: CloseReason, waiting?: "kept" | "dropped"): Promise<void>;
  /**
   * Ends without a word in the log, where nothing is at work: what waits for an answer waits on, wherever the session is
   * opened next. False, and nothing has ended, where something is.
   */
  leave(): Promise<boolean>;
  /** Settles when it has ended, however that went. */
  readonly closed: Promise<void>;
};

/** Throws a Fault, and then leaves nothing behind: no empty log, no copy, no connection. */
export async function openSession(options: OpenOptions, home: HomeResources): Promise<OpenSession> {
  const composition = await composeSession(options, home);
  const entrance = memoryAdmission(composition.settings, home.memory);
  await entrance.admit();
  const { clock, ids, workspace } = composition.parts;
  let which: NonNullable<OpenOptions["which"]> = options.which ?? { kind: "new" };
  // Whoever says nothing wants an unfinished turn to go on: there is none to begin.
  if (options.unfinished === "lost")
    which = await beginWhereNone(which, { store: composition.store, cwd: workspace.cwd });
  await using undo = new UndoList();
  const find = async (logged?: string | undefined): Promise<OpenModel> => {
    const { model: name, env, settings, keys } = composition;
    const { betas, answers } = options;
    const model = await openModel({ name, logged, env, settings, keys, betas, answers }, clock);
    undo.defer(model.close);
    checkBudget(composition, model);
    return model;
  };

  // A new session has its model before it has a log; one that goes on tells by its log which model it had.
  const chosen = which.kind === "new" ? await find() : undefined;
  const taken: LogNotice[] = [];
  const takeOver = async (named: string): Promise<string | undefined> => {
    if (options.persist === "memory") return undefined;
    const { takeOver } = await import("./transcripts/import-transcript.ts");
    const place = { ...home, ...options, cwd: workspace.cwd, env: composition.env };
    const { rebuildLog } = await import("./conversations/rebuild-log.ts");
    const found = (await takeOver(named, place)) ?? (await rebuildLog(named, place));
    taken.push(...(found?.notices ?? []).map((text): LogNotice => ({ level: "warning", text })));
    return found?.id;
  };
  const logs = { store: composition.store, ids, cwd: workspace.cwd, takeOver };
  // Read while the log is made; the log of one that goes on has it already.
  const branching = which.kind === "new" ? branchOf(workspace.cwd) : "";
  const folds = new HostFolds(await openLog(which, logs));
  const branch = await branching;
  const log = folds.log();
  composition.ownFiles.follow(composition.store.location(log.session));
  if (which.kind !== "resume") undo.defer(() => composition.store.delete(log.session));
  for (const opened of [log, composition.mcp, composition.brought]) undo.defer(() => opened?.close());
  if (options.mcpStart !== "asked") composition.mcp.start();
  const port = lateModel();
  const parts: SessionPorts = {
    ...composition.parts,
    log,
    model: port,
    traced: composition.telemetry !== undefined,
    ...(which.kind === "fork" ? { startedAs: "fork" as const } : {}),
    goals: {
      check: async (...asked) => (await import("./compose/check-goal.ts")).checkGoal(workspace, ...asked),
    },
    ...sessionArtifacts(composition.store, log.session),
  };
  const { supervisor, tree } = composition.agents;
  supervisor.equip(parts);
  const place = which.kind === "resume" ? await which.at?.(log.read(), log.session) : undefined;
  const session = await Session.open(parts, {
    start: { ...startOf(options, composition, chosen), ...(branch ? { branch } : {}) },
    // Whoever goes on from an earlier message leaves what came after it.
    unfinished: place ? "lost" : (options.unfinished ?? "continue"),
  });
  if (place) await session.submit({ type: "return", ...place });
  composition.recall?.follow(session);
  supervisor.attach(session);
  tree.plant(session, clock);
  undo.defer(() => tree.budget.close());
  const worktree = session.state.folder?.worktree;
  const elsewhere = worktree && (await composition.worktrees.takeUp(worktree));
  undo.defer(() => composition.worktrees.close());
  composition.folders.follow(() => session.state.learnt.folders);
  composition.texts.port.follow(() => session.state);
  const model = chosen ?? (await find(session.state.settings?.model));
  port.connect(model.port);
  composition.alarms?.follow(session);
  composition.brought.follow(session);
  await composition.telemetry?.follow(session);
  composition.audit?.follow(session, { provider: model.facts.provider, from: model.facts.keySource });
  // What a session was told before stands over a file.
  const usual = session.state.settings?.effort ? undefined : composition.settings.effortLevel;
  const { thinking, title, until: goal, effort = usual } = options;
  const { permissionMode } = composition;
  const wanted = { model: model.facts.model, permissionMode, thinking, effort, title, goal };
  await adjust(session, wanted);
  undo.keep();
  const found: LogNotice[] = [
    ...taken,
    ...(elsewhere === undefined ? [] : [{ level: "warning", text: elsewhere } as const]),
    ...(await unmetBy(model, { thinking, effort }, wishPlace(composition, session))),
  ];
  return handleOf({
    composition: composition,
    log,
    folds,
    session,
    model,
    version: options.version,
    found,
    memory: entrance.register(session),
  });
}

const checkBudget = ({ parts: { limits } }: SessionComposition, { facts, catalog }: OpenModel): void =>
  mustKnowPrices(limits.maxBudgetUsd, [facts.model, ...limits.fallbackModels], catalog);

type OpenedSession = {
  composition: SessionComposition;
  log: Log;
  folds: HostFolds;
  session: Session;
  model: OpenModel;
  version: string;
  found: LogNotice[];
  memory: MemoryRegistration;
};

function handleOf({
  composition: kit,
  log,
  folds,
  session,
  model,
  version,
  found,
  memory: place,
}: OpenedSession): OpenSession {
  let closing: Promise<void> | undefined;
  const closed = Promise.withResolvers<void>();
  let toldSeq = session.state.seq;
  const settled = new SettledAsks();
  session.onEvent((event) => {
    if (isDurable(event) && !event.origin) toldSeq = event.seq;
    settled.hear(event);
  });
  const history = (after?: number): AsyncIterable<Durable> => log.read(after);
  const info = factsOf(kit, model);
  const filesFound: InquiredSession["found"] = {};
  const location = kit.store.location(session.id);
  const submit: OpenSession["submit"] = async (given) => {
    const command = withModel(given, info.model);
    const said = command.type === "set" ? command.patch : {};
    if (said.permissionMode) allowedMode(said.permissionMode, kit.bypass);
    if (said.model !== undefined) mustKnowPrices(kit.parts.limits.maxBudgetUsd, [said.model], model.catalog);
    if (command.type === "input") {
      await kit.agents.supervisor.revive();
      return place.use(() => words.handle(command));
    }
    const missed = await unmetBy(model, said, wishPlace(kit, session));
    const receipt = settled.name(await (kit.agents.tree.holderFor(command) ?? session).submit(command));
    for (const notice of missed)
      session.relay({ type: "notice.raised", ...notice, at: kit.parts.clock.now(), session: session.id });
    return receipt;
  };
  const bill = (): Bill => session.state.bill;
  const context = (): ContextBreakdown =>
    breakdownOf(session.state, {
      info: model.port.info(modelOf(session.state)),
      limits: kit.parts.limits,
      next: promptFor({ state: session.state, parts: kit.parts }),
    });
  const idle = async (): Promise<void> => {
    do await session.run();
    while (hasWork(session.state) && !session.fault && !closing);
    // Who waits for the end of the work hears what it has cost.
    await kit.alarms?.settled();
    if (session.fault) throw session.fault;
  };
  kit.transcript.follow({ session, location, history, folds });
  const words = inputHandler({
    session,
    idle,
    kit,
    about: {
      id: session.id,
      version,
      location,
      info,
      settingsLocation: kit.settingsLocation,
      bill,
      context,
      submit,
      sessions: () => kit.store.list({ cwd: info.cwd, limit: 20 }),
    },
  });
  const readFile: OpenSession["readFile"] = async (name, limits) =>
    (await beside()).lookAtFile(kit, name, limits);
  kit.editor.follow({ version, session, submit, words, readFile, asks: () => kit.agents.tree.asks() });
  const onOver = overOf(closed.promise);
  const followed = { history, onEvent: words.onEvent, toldSeq: () => toldSeq, onOver };
  return {
    id: session.id,
    location,
    info,
    notices: [...kit.notices, ...session.notices, ...found],
    submit,
    onEvent: words.onEvent,
    openAsks: () => kit.agents.tree.asks(),
    hasWork: () => hasWork(session.state),
    async run() {
      await kit.agents.supervisor.revive();
      await session.run();
    },
    idle,
    async keepRule(rule, to) {
      // Loaded late: most sessions keep none.
      const { writeRule } = await import("./maintenance/settings-files.ts");
      return writeRule(kit.settingsLocation, to, { list: "allow", rule });
    },
    async updateSettings(to, settings) {
      const { readChange, writeSettings } = await import("./maintenance/change-permissions.ts");
      const { patch, changes } = readChange(settings, to);
      if (Object.keys(patch).length > 0) await submit({ type: "set", patch });
      await this.changePermissions(changes);
      if (to !== "flags") await writeSettings(kit.settingsLocation, to, settings);
    },
    readFile,
    // What a row answers is held to its type where the answers stand.
    inquire: (async (name, question) =>
      (await beside()).inquire(
        { kit, session, info, context, found: filesFound },
        name,
        question,
      )) as Inquire,
    seedRead: async (name, modifiedMs) => (await beside()).seedRead({ kit, session }, { name, modifiedMs }),
    callTool: async (call) => (await beside()).callTool({ kit, session }, call),
    reload: () => kit.texts.reload(),
    toolNames: () => namesOf(kit),
    setOwnTools: (tools) => kit.own.set(tools),
    async changePermissions(changes, more) {
      const { changePermissions } = await import("./maintenance/change-permissions.ts");
      return changePermissions({ session, kit }, changes, more);
    },
    bill,
    contextTokens: () => session.state.contextTokens,
    context,
    tasks: () => runningTasks(session.state),
    mcp: kit.mcp.control,
    takeLetter: lateLetters({ session, kit, place }),
    whyNotAttached: (file) => words.whyNotAttached(file),
    attach: (afterSeq, signal, take) => attachTo(followed, afterSeq, signal, take),
    lastSeq: () => toldSeq,
    history,
    fold: (wanted) => folds.fold(wanted),
    isLoaded: () => session.isLoaded,
    unload: () => place.unload(),
    close(reason, waiting) {
      const { clock, workspace } = kit.parts;
      const { mcp, transcript, terminals, telemetry } = kit;
      const beside = { mcp, diagnostics: workspace.diagnostics, terminals, transcript, telemetry };
      const end = { session, model, clock, budget: kit.agents.tree.budget, ...beside };
      place.release();
      kit.editor.close();
      kit.brought.close();
      closing ??= closeAll(end, reason, waiting)
        .finally(() => kit.worktrees.close())
        .finally(closed.resolve);
      return closing;
    },
    async leave() {
      if (!(await session.leave())) return false;
      // It has ended; what is beside it ends with it.
      await this.close("ended");
      return true;
    },
    closed: closed.promise,
  };
}

const beside = () => import("./inquiries/inquiries.ts");
