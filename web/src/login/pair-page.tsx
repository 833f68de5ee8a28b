/** Where a device that has no secret gets one: it comes with a code, shows digits, and waits for a yes. */
import "../overview/overview.css";
import "./login.css";
import { collectSecret } from "keel/client";
import { type ReactElement, useState } from "react";
import { faultOf } from "../live/world.ts";
import { words } from "../words.ts";

export function PairPage(): ReactElement {
  // The code of the picture stands behind the sign that no browser sends on.
  const [code, setCode] = useState(() => location.hash.slice(1));
  const [name, setName] = useState(() => words.pair.nameOf(navigator.userAgent));
  const [digits, setDigits] = useState("");
  const [problem, setProblem] = useState("");
  const pair = async (): Promise<void> => {
    setProblem("");
    try {
      await collectSecret({
        url: location.origin,
        code,
        name,
        keep: "cookie",
        onDigits: setDigits,
        fetch: (input, init) => fetch(input, init),
      });
      location.replace("/");
    } catch (thrown) {
      setDigits("");
      setProblem(faultOf(thrown).message);
    }
  };
  return (
    <main className="login" id="main">
      <h1>{words.pair.title}</h1>
      {digits !== "" ? (
        <>
          <p>{words.pair.compare}</p>
          <p className="pairing-code" role="status">
            {digits.slice(0, 3)} {digits.slice(3)}
          </p>
          <p className="quiet">{words.pair.waiting}</p>
        </>
      ) : (
        <form
          className="create"
          onSubmit={(event) => {
            event.preventDefault();
            void pair();
          }}
        >
          <label className="field">
            <span className="label">{words.pair.code}</span>
            <input
              className="input code-input"
              required
              autoComplete="one-time-code"
              autoCapitalize="characters"
              spellCheck={false}
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
            <span className="hint">
              {words.pair.codeHint} <code>keel serve pair</code>
            </span>
          </label>
          <label className="field">
            <span className="label">{words.pair.name}</span>
            <input className="input" required value={name} onChange={({ target }) => setName(target.value)} />
          </label>
          {problem !== "" && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
          <div className="answers">
            <button type="submit" className="button main">
              {words.pair.pair}
            </button>
          </div>
        </form>
      )}
    </main>
  );
}
