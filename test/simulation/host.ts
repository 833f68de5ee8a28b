/** A person and a program that use a session: they send, answer late or twice, interrupt, and come back after a crash. */
import type { AgentTree } from "../../keel/src/agents/tree.ts";
import type { Session } from "../../keel/src/engine/session.ts";
import type { Answer, Ask } from "../../keel/src/protocol/ask.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { changedInput } from "./hooks.ts";
import type { Told } from "./told.ts";
import type { World } from "./world.ts";

/** What the host was promised; the disk must keep every word of it. */
export type Promises = {
  readonly accepted: Set<string>;
  readonly refused: Set<string>;
  readonly denied: Set<string>;
};

export class Host {
  readonly promises: Promises = { accepted: new Set(), refused: new Set(), denied: new Set() };
  readonly #world: World;
  readonly #told: Told;
  #session: Session | undefined;
  #tree: AgentTree | undefined;
  #sent = 0;

  constructor(world: World, told: Told) {
    this.#world = world;
    this.#told = told;
  }

  /** The session of the present life, with the agents that it may have. */
  attach(session: Session, tree: AgentTree | undefined): void {
    this.#session = session;
    this.#tree = tree;
    this.#told.begin();
    session.onEvent((envelope) => this.#watch(session, envelope));
    for (const ask of session.state.asks) void this.#reply(session, ask);
  }

  /** The process is down. */
  detach(): void {
    this.#session = undefined;
    this.#tree = undefined;
  }

  /** Everything that it does of its own accord, spread over some minutes. */
  async live(): Promise<void> {
    const inputs = this.#world.between(1, 8);
    let mood = 0;
    for (let count = 0; count < inputs; count++) {
      await this.#world.pause(this.#world.between(1, 20_000));
      if (mood > 0.8) await this.#goBack();
      await this.#send();
      if (this.#world.draw() < 0.1) await this.#submit({ type: "compact" });
      mood = this.#world.draw();
      if (mood < 0.1) await this.#submit({ type: "set", patch: { title: `title ${count}` } });
    }
  }

  async #send(): Promise<void> {
    const id = `00000000-0000-4000-8000-${String(++this.#sent).padStart(12, "0")}`;
    const when = this.#world.draw() < 0.4 ? "now" : "after";
    const receipt = await this.#submit({ type: "input", id, content: [text(`input ${this.#sent}`)], when });
    if (receipt === "down") return;
    // A promise is given when the receipt is there, and only then.
    if (receipt === "refused") this.promises.refused.add(id);
    else this.promises.accepted.add(id);
    if (receipt !== "refused" && this.#world.draw() < 0.1)
      await this.#submit({ type: "input", id, content: [text("again")], when });
  }

  /** Anywhere: also to what was left before, and where there is no message yet. */
  async #goBack(): Promise<void> {
    const { seq } = this.#session?.state ?? { seq: 1 };
    await this.#submit({ type: "return", to: this.#world.between(1, Math.max(1, seq)) });
  }

  async #submit(command: Parameters<Session["submit"]>[0]): Promise<"done" | "refused" | "down"> {
    const session = this.#session;
    if (!session) return "down";
    try {
      await session.submit(command);
      return "done";
    } catch {
      return "refused"; // A fault from the table: nothing was accepted.
    }
  }

  /** Stops whatever runs, at any moment. */
  interrupt(): void {
    void this.#submit({ type: "interrupt", dropQueued: this.#world.draw() < 0.3 });
  }

  #watch(session: Session, envelope: Envelope): void {
    this.#told.hear(envelope);
    if (envelope.type === "ask.opened") void this.#reply(session, envelope.ask);
    if (
      (envelope.type === "tool.started" || envelope.type === "block.finished") &&
      this.#world.goesWrong("interrupt")
    )
      this.interrupt();
    if (this.#tree && (envelope.type === "task.changed" || envelope.type === "tool.started"))
      void this.#meddle(this.#tree, envelope);
  }

  /** With agents there is more to do: work that is waited for is sent to the background, work there is stopped. */
  async #meddle(tree: AgentTree, { type, ...about }: Envelope): Promise<void> {
    const wish = this.#world.draw();
    if (wish > 0.06) return;
    await this.#world.sleep(this.#world.between(1, 3_000));
    if (type === "tool.started" && "callId" in about && about.callId !== undefined)
      await tree
        .holderOf({ callId: about.callId })
        ?.submit({ type: "background", callId: about.callId })
        .catch(() => undefined);
    if (type === "task.changed" && "taskId" in about)
      await tree
        .holderOf({ taskId: about.taskId })
        ?.submit({ type: "stop", taskId: about.taskId })
        .catch(() => undefined);
  }

  async #reply(session: Session, ask: Ask): Promise<void> {
    const world = this.#world;
    if (world.goesWrong("no-answer")) return;
    await world.sleep(
      world.goesWrong("late-answer") ? world.between(10_000, 90_000_000) : world.between(1, 5_000),
    );
    const answer = this.#answerTo(ask);
    const times = world.goesWrong("double-answer") ? 2 : 1;
    for (let count = 0; count < times; count++) {
      const holder = this.#tree?.holderOf({ askId: ask.id }) ?? session;
      const receipt = await holder.submit({ type: "answer", askId: ask.id, answer }).catch(() => undefined);
      if (count === 0 && receipt?.type === "answered" && answer.verdict === "deny" && ask.callId)
        this.promises.denied.add(ask.callId);
    }
  }

  #answerTo(ask: Ask): Answer {
    const dice = this.#world.draw();
    if (ask.kind === "question") return { verdict: "allow", data: "this one" };
    if (dice < 0.55) return { verdict: "allow" };
    if (dice < 0.6) return { verdict: "allow", option: "always" };
    if (dice < 0.65) return { verdict: "allow", input: changedInput(this.#world) };
    if (dice < 0.95) return { verdict: "deny", reason: "no" };
    return { verdict: "deny", reason: "stop", interrupt: true };
  }
}
