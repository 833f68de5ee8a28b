/**
 * An agent of another engine, in that engine's own messages: what it says and uses, what it asks, and a field for words
 * to it. Of an engine that keeps its history to itself a place is left, and no guess.
 */
import "../asks/asks.css";
import "../composer/composer.css";
import "../overview/overview.css";
import type { AgentUpdate, WorkerEntry } from "keel/client";
import type { Envelope, JsonObject } from "keel/protocol";
import { askWords, foldTranscript, noTranscript, visible } from "keel/view";
import { type ReactElement, useEffect, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { Sign } from "../kit/sign.tsx";
import { faultOf, useAccess, useWorld } from "../live/world.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { EventRows } from "./event-rows.tsx";
import { type ForeignRow, rowsOfMessage } from "./foreign-rows.ts";

type ForeignAsk = Extract<AgentUpdate, { kind: "ask" }>["ask"];

export function ForeignAgent({ worker }: { readonly worker: WorkerEntry }): ReactElement {
  const { client } = useWorld();
  const [rows, setRows] = useState<readonly ForeignRow[]>([]);
  const [asks, setAsks] = useState<readonly ForeignAsk[]>([]);
  const [transcript, setTranscript] = useState(noTranscript);
  const [problem, setProblem] = useState("");
  const [text, setText] = useState("");
  const { id, engine, activity } = worker;
  const access = useAccess();
  const mayTell = access === "work";
  /** The server hands on no messages of this engine, or does not know it. */
  const [isMute, setMute] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const update of client.workspaces.messages(id, stop.signal)) {
        if (update.kind === "message") setRows((before) => [...before, ...rowsOfMessage(update.message)]);
        if (update.kind === "event") setTranscript((before) => foldTranscript(before, eventIn(update.event)));
        if (update.kind === "ask") setAsks((before) => [...before, update.ask]);
        if (update.kind === "answered") setAsks((before) => before.filter((ask) => ask.id !== update.ask));
      }
    };
    follow().catch((thrown: unknown) => {
      const { code, message } = faultOf(thrown);
      if (code === "work_refused") setMute(true);
      else setProblem(message);
    });
    return () => stop.abort();
  }, [client, id]);
  const run = (work: Promise<unknown>): void =>
    void work.catch((thrown: unknown) => setProblem(faultOf(thrown).message));
  const tell = (): void => {
    if (text.trim() === "") return;
    run(client.workspaces.tellWorker({ worker: id, content: text.trim() }));
    setText("");
  };
  if (isMute)
    return (
      <section className="state">
        <p>{words.foreign.unknown(visible(engine))}</p>
        <Button onClick={() => run(client.workspaces.restartWorker({ worker: id }))}>
          {words.workers.restart}
        </Button>
      </section>
    );
  return (
    <section className="foreign" aria-label={visible(worker.name)}>
      {transcript !== noTranscript && <EventRows worker={worker} transcript={transcript} />}
      <div className={transcript === noTranscript ? "foreign-rows" : "foreign-rows is-told"}>
        {rows.length === 0 && transcript === noTranscript && (
          <div className="state">
            <p className="quiet">{words.foreign.title(visible(engine))}</p>
            <p className="quiet">{words.foreign.about}</p>
          </div>
        )}
        {rows.map((row) => (
          <ForeignRowView key={row.id} row={row} />
        ))}
        {asks.map((ask) => (
          // biome-ignore lint/a11y/useSemanticElements: as a question of ours
          <div
            key={ask.id}
            role="group"
            className="ask"
            data-ask={ask.id}
            aria-label={askWords.mayUse(visible(ask.tool))}
          >
            <h3>
              <Sign kind="asking" />
              <span>{askWords.mayUse(visible(ask.tool))}</span>
            </h3>
            <pre className="command">{visible(JSON.stringify(ask.input, null, 2))}</pre>
            {access === "watch" ? (
              <p className="quiet">{words.readOnlyAsk}</p>
            ) : (
              <div className="answers">
                <Button
                  look="main"
                  onClick={() =>
                    run(client.workspaces.answerWorker({ worker: id, ask: ask.id, verdict: "allow" }))
                  }
                >
                  {askWords.allowOnce}
                </Button>
                <Button
                  onClick={() =>
                    run(client.workspaces.answerWorker({ worker: id, ask: ask.id, verdict: "deny" }))
                  }
                >
                  {askWords.sayNo}
                </Button>
              </div>
            )}
          </div>
        ))}
        {problem !== "" && (
          <p className="problem" role="alert">
            {visible(problem)}
          </p>
        )}
      </div>
      {mayTell ? (
        <div className="foot">
          <form
            className="composer"
            aria-label={words.composer.label}
            onSubmit={(event) => {
              event.preventDefault();
              tell();
            }}
          >
            <textarea
              rows={1}
              value={text}
              aria-label={words.composer.sayLabel}
              placeholder={words.composer.say}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
                event.preventDefault();
                tell();
              }}
            />
            <div className="controls">
              <span className="gap" />
              {activity === "active" && (
                <Button icon="stop" onClick={() => run(client.workspaces.interruptWorker({ worker: id }))}>
                  {words.composer.interrupt}
                </Button>
              )}
              <button type="submit" className="button main" disabled={text.trim() === ""}>
                {words.composer.send}
              </button>
            </div>
          </form>
        </div>
      ) : null}
    </section>
  );
}

/** As the server told it: of an engine that tells events of ours. */
const eventIn = (event: JsonObject): Envelope => event as unknown as Envelope;

function ForeignRowView({ row }: { readonly row: ForeignRow }): ReactElement {
  switch (row.kind) {
    case "said":
      return (
        <div className="said from-person">
          <p className="words">{visible(row.text)}</p>
        </div>
      );
    case "text":
      return (
        <div className="reply">
          <Markdown text={row.text} />
        </div>
      );
    case "call":
      return (
        <details className="call">
          <summary className="line">
            <Icon name="chevron" />
            <span className="name">{visible(row.tool)}</span>
            <code className="about one-line">{visible(row.input)}</code>
          </summary>
          <pre className="plain">{visible(row.input)}</pre>
        </details>
      );
    case "result":
      return (
        <details className="call">
          <summary className="line">
            <Icon name="chevron" />
            <span className={row.failed ? "name removed" : "name"}>{words.foreign.result}</span>
            <code className="about one-line">{visible(row.text)}</code>
          </summary>
          <pre className="plain">{visible(row.text)}</pre>
        </details>
      );
    case "end":
      return <p className="turn-end">{words.foreign.done(row.cost)}</p>;
  }
}
