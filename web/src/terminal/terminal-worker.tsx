/** A program in a terminal: its screen as the server keeps it, for everybody who looks. */
import "./terminal.css";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import type { FarTerminal } from "keel/client";
import type { TerminalUpdate, WorkerEntry } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { useAnnounced } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { faultOf, useWorld } from "../live/world.ts";
import { safeAddress } from "../markdown/inline.ts";
import { words } from "../words.ts";
import { openStyled } from "./styled-document.ts";
import { terminalTheme } from "./terminal-theme.ts";

type Ended = { readonly code: number; readonly signal: string | null };

export function TerminalWorker({ worker }: { readonly worker: WorkerEntry }): ReactElement {
  const world = useWorld();
  const { client } = world;
  const place = useRef<HTMLDivElement>(null);
  const [ended, setEnded] = useState<Ended>();
  const [problem, setProblem] = useState("");
  const { id } = worker;
  useEffect(() => {
    if (!place.current) return;
    const far = client.workspaces.terminal(id);
    const opened = openTerminal(place.current, far);
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const update of far.updates(stop.signal)) {
        // The next update is asked for when this one is on the screen: who draws slowly is told less.
        await opened.show(update);
        if (update.kind === "exit") setEnded({ code: update.code, signal: update.signal });
        if (update.kind === "screen") setEnded(undefined);
      }
    };
    follow().catch((thrown: unknown) => setProblem(faultOf(thrown).message));
    return () => {
      stop.abort();
      opened.close();
    };
  }, [client, id]);
  const said = problem !== "" ? problem : ended ? words.terminal.ended(ended.code, ended.signal) : "";
  useAnnounced(said);
  return (
    <section className="terminal-worker" aria-label={visible(worker.name)}>
      <div ref={place} className="screen" />
      {said !== "" && (
        <div className="ended">
          <span>{said}</span>
          <Button onClick={() => void world.attempt(client.workspaces.restartWorker({ worker: id }))}>
            {words.workers.restart}
          </Button>
        </div>
      )}
    </section>
  );
}

function openTerminal(
  place: HTMLElement,
  far: FarTerminal,
): { show(update: TerminalUpdate): Promise<void>; close(): void } {
  const style = getComputedStyle(place);
  const terminal = new Terminal({
    fontFamily: style.getPropertyValue("--mono"),
    fontSize: 13,
    lineHeight: 1.2,
    scrollback: 5_000,
    theme: terminalTheme(place),
    screenReaderMode: true,
    // A program knows nothing of the theme: its words stay legible on whatever it puts behind them.
    minimumContrastRatio: 4.5,
    linkHandler: {
      // A program may write any address; only those of the web are opened, and none knows where it was opened from.
      activate: (_, address) => {
        const href = safeAddress(address);
        if (href !== "") window.open(href, "_blank", "noopener,noreferrer");
      },
      allowNonHttpProtocols: false,
    },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  openStyled(() => terminal.open(place));
  const typed = terminal.onData((keys) => void far.type(keys).catch(() => undefined));
  let sent = "";
  /** The size is one for all who look: whoever is at it last decides. */
  const resize = (): void => {
    const wanted = fit.proposeDimensions();
    if (!wanted || !Number.isFinite(wanted.cols) || document.hidden) return;
    const { cols: columns, rows } = wanted;
    if (sent === `${columns} ${rows}`) return;
    sent = `${columns} ${rows}`;
    void far.resize({ columns, rows }).catch(() => undefined);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resize, 100);
  });
  observer.observe(place);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  const paint = (): void => {
    terminal.options.theme = terminalTheme(place);
  };
  scheme.addEventListener("change", paint);
  terminal.focus();
  const write = (text: string): Promise<void> => new Promise((resolve) => terminal.write(text, resolve));
  return {
    async show(update) {
      switch (update.kind) {
        case "screen":
          terminal.reset();
          terminal.resize(update.columns, update.rows);
          return write(update.paint);
        case "output":
          return write(update.text);
        case "size":
          return terminal.resize(update.columns, update.rows);
        case "exit":
          return undefined;
      }
    },
    close() {
      clearTimeout(timer);
      observer.disconnect();
      scheme.removeEventListener("change", paint);
      typed.dispose();
      terminal.dispose();
    },
  };
}
