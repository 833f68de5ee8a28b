/** Says that the way to the server is cut, at once and until it is whole again. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { useAnnounce } from "../kit/announce.tsx";
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
      <div className="link-bar">
        <span>{words.link.lost}</span>
        <span>{words.link.trying}</span>
      </div>
    );
  return isLate ? <div className="link-bar is-connecting">{words.link.connecting}</div> : null;
}
