import type { Answer } from "../../servers/answer.js";
import type { Fault } from "../../servers/faults.js";
import type { JsonObject } from "../../servers/json.js";

/** The name of the field with the moment of the answer. Every row has it if the data can change. */
export const markName = "answered_at_moment";

const texts = new WeakMap<JsonObject, string>();

function textOf(record: JsonObject, mark: number | undefined): string {
  const text = texts.get(record) ?? JSON.stringify(record);
  texts.set(record, text);
  return mark === undefined ? text : `${text.slice(0, -1)},"${markName}":${mark}}`;
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The bytes of an answer, with the fault applied. `mark`: the moment to write into every row. Caches the JSON text of records. */
export function bytesOf({ json, html = "" }: Answer, mark: number | undefined, fault?: Fault["kind"]): Buffer {
  if (!json) return Buffer.from(html);
  const { data, ...rest } = json;
  const records = Array.isArray(data) && data.every(isRecord) ? data : undefined;
  const envelope = JSON.stringify(records ? rest : json);
  const rows = records?.map((record) => textOf(record, mark)).join(",");
  const text = rows === undefined ? envelope : `{"data":[${rows}]${envelope === "{}" ? "}" : `,${envelope.slice(1)}`}`;
  if (fault === "truncated-json") return Buffer.from(text.slice(0, Math.floor((text.length * 2) / 3)));
  if (fault === "invalid-json") return Buffer.from(`${text},NaN`);
  if (fault === "not-utf8")
    return Buffer.concat([Buffer.from(text.slice(0, 2)), Buffer.from([0xe9]), Buffer.from(text.slice(2))]);
  return Buffer.from(text);
}
