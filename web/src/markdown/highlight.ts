/** Asks the worker for the colours of a text; what was asked once is remembered for a while. */

/** A line as pieces, each with the name of its look: `keyword`, `string`; empty for plain. */
export type CodeLine = readonly { readonly text: string; readonly look: string }[];

export type HighlightQuestion = { readonly id: number; readonly language: string; readonly text: string };
export type HighlightAnswer = { readonly id: number; readonly lines: readonly CodeLine[] | null };

/** Longer texts stay plain: nobody reads them for their colours. */
const maxText = 200_000;
const maxKnown = 200;

type Asking = {
  readonly worker: Worker;
  readonly waiting: Map<number, (lines: readonly CodeLine[] | null) => void>;
};

const newHighlighter = () => {
  const known = new Map<string, Promise<readonly CodeLine[] | undefined>>();
  let asking: Asking | undefined;
  let lastId = 0;
  const start = (): Asking => {
    const worker = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    const waiting: Asking["waiting"] = new Map();
    worker.addEventListener("message", ({ data }: MessageEvent<HighlightAnswer>) => {
      waiting.get(data.id)?.(data.lines);
      waiting.delete(data.id);
    });
    worker.addEventListener("error", () => {
      for (const done of waiting.values()) done(null);
      waiting.clear();
    });
    return { worker, waiting };
  };
  const ask = (language: string, text: string): Promise<readonly CodeLine[] | undefined> =>
    new Promise((resolve) => {
      asking ??= start();
      lastId += 1;
      asking.waiting.set(lastId, (lines) => resolve(lines ?? undefined));
      asking.worker.postMessage({ id: lastId, language, text } satisfies HighlightQuestion);
    });
  return (language: string, text: string): Promise<readonly CodeLine[] | undefined> => {
    if (text.length > maxText) return Promise.resolve(undefined);
    const key = `${language}\n${text}`;
    const answer = known.get(key) ?? ask(language, text);
    known.delete(key);
    known.set(key, answer);
    for (const old of known.keys()) {
      if (known.size <= maxKnown) break;
      known.delete(old);
    }
    return answer;
  };
};

export const highlight = newHighlighter();
