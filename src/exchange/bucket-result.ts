import * as v from "valibot";
import { object, pattern, text, valueIf } from "../schema.js";

/** The content of a result in a bucket: the result, and the attempt of which it is, so that two attempts never write the same bytes. */
const resultSchema = object({ token: pattern("a UUID", /^[0-9a-f-]{36}$/), result: text });

export type BucketResult = Readonly<v.InferOutput<typeof resultSchema>>;

/** The bytes of a result. */
export function bytesOfResult(result: BucketResult): Buffer {
  return Buffer.from(JSON.stringify(result));
}

/** The result in a text; undefined where something else than a worker wrote it. */
export function resultFrom(content: string | undefined): BucketResult | undefined {
  return valueIf(v.pipe(text, v.parseJson(), resultSchema), content);
}
