/**
 * What a session says about itself when it is asked; asked again whenever `stamp` is another one, and not before there is
 * one: a session that is asked is opened for it, and whoever waits for its rows comes first.
 */
import type { InquiryAnswer, InquiryName } from "keel/protocol";
import { useEffect, useState } from "react";
import { useValue } from "./observable.ts";
import { useWorld } from "./world.ts";

/** Those without a question. */
type PlainName = Exclude<InquiryName, "files" | "taskOutput">;

/** Undefined until it is known; the last answer stays while it is asked again. */
export function useInquiry<Name extends PlainName>(
  session: string,
  name: Name,
  stamp: unknown = 0,
): InquiryAnswer<Name> | undefined {
  const { client } = useWorld();
  const link = useValue(useWorld().link);
  const [answer, setAnswer] = useState<{ readonly of: string; readonly value: InquiryAnswer<Name> }>();
  const isThere = link.state === "connected" && stamp !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another stamp asks again
  useEffect(() => {
    if (!isThere) return;
    let isWanted = true;
    client
      .attach(session)
      .inquire(name as "facts")
      .then(
        (value) => {
          if (isWanted) setAnswer({ of: session, value: value as unknown as InquiryAnswer<Name> });
        },
        // Shown as unknown.
        () => undefined,
      );
    return () => {
      isWanted = false;
    };
  }, [client, session, name, stamp, isThere]);
  return answer?.of === session ? answer.value : undefined;
}
