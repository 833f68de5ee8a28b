/** How the page looks in this browser, and what it keeps. */
import { type ReactElement, useState } from "react";
import { useAnnounced } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { useWorld } from "../live/world.ts";
import { chooseTheme, themeIn, themes } from "../theme.ts";
import { words } from "../words.ts";

export function LookSettings(): ReactElement {
  const { notes, kept } = useWorld();
  const [theme, setTheme] = useState(() => themeIn(notes));
  const [isCleared, setCleared] = useState(false);
  useAnnounced(isCleared ? words.settings.cleared : "");
  return (
    <>
      <fieldset className="choices">
        <legend>{words.settings.theme}</legend>
        {themes.map((one) => (
          <label key={one} className="check">
            <input
              type="radio"
              name="theme"
              checked={theme === one}
              onChange={() => {
                setTheme(one);
                chooseTheme(notes, one);
              }}
            />
            <span>{words.settings.themes[one]}</span>
          </label>
        ))}
      </fieldset>
      <section>
        <h2>{words.settings.kept}</h2>
        <p>{words.settings.keptAbout}</p>
        <p>
          <Button
            icon="trash"
            onClick={() => {
              void kept.clear().then(() => setCleared(true));
            }}
          >
            {words.settings.clear}
          </Button>{" "}
          <span>{isCleared ? words.settings.cleared : ""}</span>
        </p>
      </section>
    </>
  );
}
