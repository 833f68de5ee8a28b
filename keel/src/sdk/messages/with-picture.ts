/** A picture stands in a log once, in the result's content; programs find it in the result's data too. */
import { isObject, type Json } from "../../kernel/json.ts";
import type { ResultPart } from "../../protocol/message.ts";

export function withPicture(data: Json, content: readonly ResultPart[]): Json {
  const [picture] = content.filter((part) => part.type === "image");
  if (!picture || !isObject(data) || data["type"] !== "image" || !isObject(data["file"])) return data;
  return { ...data, file: { ...data["file"], base64: picture.data } };
}
