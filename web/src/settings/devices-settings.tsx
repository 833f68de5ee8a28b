/** Who may come in: devices that have a secret, and the way for one more. */
import "../asks/asks.css";
import { type DeviceEntry, type Pairing, spelled } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { useAnnounced } from "../kit/announce.tsx";
import { Button } from "../kit/button.tsx";
import { QrCode } from "../kit/qr-code.tsx";
import { Ago } from "../kit/time.tsx";
import { faultOf, useAccess, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

type Begun = { readonly pairing: string; readonly code: string; readonly url: string };
const accesses = ["watch", "answer", "work"] as const;

export function DevicesSettings(): ReactElement {
  const { client } = useWorld();
  const [devices, setDevices] = useState<readonly DeviceEntry[]>();
  const [problem, setProblem] = useState("");
  const mayChange = useAccess() === "work";
  const look = useCallback(
    (): void =>
      void client.devices.list().then(setDevices, (thrown: unknown) => setProblem(faultOf(thrown).message)),
    [client],
  );
  useEffect(look, [look]);
  const remove = (device: string): void =>
    void client.devices.remove(device).then(look, (thrown: unknown) => setProblem(faultOf(thrown).message));
  return (
    <>
      <section>
        <h2>{words.devices.title}</h2>
        <ul className="rules">
          {devices?.map(({ id, name, access, createdAt, connected }) => (
            <li key={id}>
              <span className="about">
                <strong>{visible(name)}</strong>{" "}
                <span className="quiet">
                  {words.devices.access[access]} ·{" "}
                  {connected > 0 ? words.devices.connected : <Ago at={createdAt} />}
                </span>
              </span>
              {mayChange && id !== "own" && (
                <Button look="plain" icon="trash" onClick={() => remove(id)}>
                  {words.settings.remove}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </section>
      {problem !== "" && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {mayChange && <PairDevice onDone={look} onProblem={setProblem} />}
    </>
  );
}

type PairDeviceProps = { readonly onDone: () => void; readonly onProblem: (why: string) => void };

/** A code, then the digits of whoever came with it, then a yes. */
function PairDevice({ onDone, onProblem }: PairDeviceProps): ReactElement {
  const { client } = useWorld();
  const [access, setAccess] = useState<(typeof accesses)[number]>("answer");
  const [begun, setBegun] = useState<Begun>();
  const [pairing, setPairing] = useState<Pairing>();
  const begin = async (): Promise<void> => {
    try {
      const { url = location.origin, ...made } = await client.devices.pair({ access });
      setBegun({ ...made, url });
      setPairing({ state: "open", until: made.until });
    } catch (thrown) {
      onProblem(faultOf(thrown).message);
    }
  };
  const id = begun?.pairing;
  useEffect(() => {
    if (id === undefined) return;
    let isWanted = true;
    const follow = async (): Promise<void> => {
      for (let known: Pairing["state"] = "open"; isWanted; ) {
        const now = await client.devices.pairing(id, known);
        if (!isWanted) return;
        known = now.state;
        setPairing(now);
        if (now.state === "paired" || now.state === "over") return onDone();
      }
    };
    follow().catch((thrown: unknown) => onProblem(faultOf(thrown).message));
    return () => {
      isWanted = false;
    };
  }, [client, id, onDone, onProblem]);
  const outcome =
    pairing?.state === "paired"
      ? words.devices.paired(visible(pairing.name))
      : pairing?.state === "over"
        ? words.devices.over[pairing.why]
        : "";
  useAnnounced(outcome);
  const answer = (verdict: "allow" | "deny"): void =>
    void (id !== undefined && client.devices.answer(id, verdict).catch(() => undefined));
  return (
    <section>
      <h2>{words.devices.add}</h2>
      {begun && pairing?.state === "open" ? (
        <div className="pairing">
          <QrCode text={`${begun.url}/pair#${begun.code}`} label={words.devices.qr} />
          <div>
            <p>{words.devices.open(begun.url)}</p>
            <p className="pairing-code">{spelled(begun.code)}</p>
            <p className="quiet">{words.devices.once}</p>
          </div>
        </div>
      ) : pairing?.state === "claimed" ? (
        <div className="ask" role="alert">
          <p>{words.devices.claimed(visible(pairing.name))}</p>
          <p className="pairing-code">{digits(pairing.digits)}</p>
          <div className="answers">
            <Button look="main" onClick={() => answer("allow")}>
              {words.devices.letIn}
            </Button>
            <Button onClick={() => answer("deny")}>{words.devices.refuse}</Button>
          </div>
        </div>
      ) : (
        <>
          {outcome !== "" && <p>{outcome}</p>}
          <form
            className="add-rule"
            onSubmit={(event) => {
              event.preventDefault();
              void begin();
            }}
          >
            <label className="field">
              <span className="label">{words.devices.mayDo}</span>
              <select
                className="input"
                value={access}
                onChange={({ target }) => setAccess(target.value as typeof access)}
              >
                {accesses.map((one) => (
                  <option key={one} value={one}>
                    {words.devices.access[one]}
                  </option>
                ))}
              </select>
            </label>
            <button type="submit" className="button main">
              {words.devices.begin}
            </button>
          </form>
        </>
      )}
    </section>
  );
}

const digits = (all: string): string => `${all.slice(0, 3)} ${all.slice(3)}`;
