/** A short text as a QR code: dark on light in both themes, because cameras want it so. */
import { qrCode } from "keel/view";
import { type ReactElement, useMemo } from "react";

const margin = 4;

export function QrCode({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): ReactElement | null {
  const modules = useMemo(() => qrCode(text), [text]);
  if (!modules) return null;
  const side = modules.length + 2 * margin;
  const path = modules
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + margin} ${y + margin}h1v1h-1z`] : [])))
    .join("");
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
