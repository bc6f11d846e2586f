import { randomUUID } from "node:crypto";
import { StopError } from "../errors.js";
import type { Bucket, Condition, Written } from "./bucket.js";

/**
 * Tries with an object of its own, which it removes again, whether the store honours conditions of writes. `honoured`, or a sentence
 * that says which one it ignores. Any other trouble is the error of the request that met it.
 */
export async function tryConditions(bucket: Bucket): Promise<"honoured" | string> {
  const key = `try-conditions-${randomUUID()}`;
  const put = (text: string, condition: Condition) => bucket.put(key, Buffer.from(`${key} ${text}\n`), condition);
  try {
    const first = await put("first", "absent");
    if (first === "refused") return "the store refuses to create an object with If-None-Match";
    if ((await put("second", "absent")) !== "refused")
      return "the store ignores If-None-Match: it replaced an object that it should only have created";
    if ((await put("third", { etag: '"00000000000000000000000000000000"' })) !== "refused")
      return "the store ignores If-Match: it replaced an object that has another ETag";
    return judgeLast(await put("fourth", first));
  } catch (error) {
    if (error instanceof StopError && error.status === 501)
      return "the store does not support conditional writes (501 Not Implemented)";
    throw error;
  } finally {
    await bucket.remove([key]).catch(() => {}); // the answer stands, and a scratch object does no harm
  }
}

function judgeLast(written: Written): "honoured" | string {
  return written === "refused"
    ? "the store refuses to replace an object with If-Match, although its ETag is right"
    : "honoured";
}
