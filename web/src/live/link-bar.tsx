/** Says that the way to the server is cut, at once and until it is whole again; and what could not be done. */
import { visible } from "keel/view";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { useAnnounce } from "../kit/announce.tsx";
import { IconButton } from "../kit/button.tsx";
import { words } from "../words.ts";
import { useValue } from "./observable.ts";
import { useWorld } from "./world.ts";

/** A server that answers at once is never announced as being called. */
const patienceMs = 400;

export function LinkBar(): ReactElement | null {
  const { state } = useValue(useWorld().link);
  const announce = useAnnounce();
  const wasLost = useRef(false);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (state === "lost") {
      wasLost.current = true;
      announce(words.link.lost);
    }
    if (state === "connected" && wasLost.current) {
      wasLost.current = false;
      announce(words.link.back);
    }
    if (state !== "connecting") return setLate(false);
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, [state, announce]);
  if (state === "lost")
    return (
      <section className="link-bar" aria-label={words.link.label}>
        {words.link.lost}
      </section>
    );
  return isLate ? (
    <section className="link-bar is-connecting" aria-label={words.link.label}>
      {words.link.connecting}
    </section>
  ) : null;
}

/** Until somebody has read it. */
export function ToldBar(): ReactElement | null {
  const { told } = useWorld();
  const now = useValue(told);
  if (!now) return null;
  return (
    <div className={`link-bar is-${now.kind}`} role="alert">
      <span>{visible(now.says)}</span>
      <IconButton icon="close" label={words.close} onClick={() => told.set(undefined)} />
    </div>
  );
}
