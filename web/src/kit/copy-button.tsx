/** Copies a text, and says that it did. */
import { type ReactElement, useEffect, useState } from "react";
import { words } from "../words.ts";
import { useAnnounce } from "./announce.tsx";
import { IconButton } from "./button.tsx";

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const announce = useAnnounce();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce(words.copied);
  };
  return <IconButton icon={isCopied ? "check" : "copy"} label={label} onClick={() => void copy()} />;
}
