/** The one place that a screen reader is told things by itself: politely, and at most once in two seconds. */
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
} from "react";

const quietMs = 2_000;

type Announce = (says: string) => void;
const AnnounceContext = createContext<Announce>(() => undefined);

/** The last words win: what was overtaken is old news. */
export const useAnnounce = (): Announce => useContext(AnnounceContext);

/** Whenever these words are others, they are said; nothing where they are empty. */
export function useAnnounced(words: string): void {
  const announce = useAnnounce();
  useEffect(() => {
    if (words !== "") announce(words);
  }, [words, announce]);
}

export function Announcer({ children }: { readonly children: ReactNode }): ReactElement {
  const region = useRef<HTMLDivElement>(null);
  // Written by hand: nothing is rendered for it, and it is said when the clock says so.
  const speaker = useMemo(
    () =>
      newSpeaker((words) => {
        if (region.current) region.current.textContent = words;
      }),
    [],
  );
  useEffect(() => speaker.stop, [speaker]);
  return (
    <AnnounceContext value={speaker.announce}>
      {children}
      <div ref={region} className="unseen" role="status" aria-live="polite" />
    </AnnounceContext>
  );
}

function newSpeaker(say: (words: string) => void): { announce: Announce; stop(): void } {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const announce: Announce = (words) => {
    clearTimeout(timer);
    const wait = Math.max(0, last + quietMs - performance.now());
    timer = setTimeout(() => {
      say(words);
      last = performance.now();
    }, wait);
  };
  return { announce, stop: () => clearTimeout(timer) };
}
