import { readFileSync } from "node:fs";
import { Ajv } from "ajv";

/** The operations in the public API description, by path. */
export const operations = {
  datasets: "/datasets",
  documents: "/datasets/{dataset_id}/documents",
  chunks: "/datasets/{dataset_id}/documents/{document_id}/segments",
  childChunks: "/datasets/{dataset_id}/documents/{document_id}/segments/{segment_id}/child_chunks",
  indexingStatus: "/datasets/{dataset_id}/documents/{batch}/indexing-status",
  metadataFields: "/datasets/{dataset_id}/metadata/built-in",
} as const;

/** Ways in which real deployments, and therefore the sample data, deviate from the description. */
export const inPractice: readonly string[] = [
  "chunks /data/*/answer must be string",
  "chunks /data/*/error must be string",
  "chunks /data/*/index_node_hash must be string",
  "chunks /data/*/index_node_id must be string",
  "chunks /data/*/keywords must be array",
  "chunks /data/*/summary must be string",
  "chunks /data/*/updated_by must be string",
  "datasets /data/*/embedding_model must be string",
  "datasets /data/*/embedding_model_provider must be string",
  "datasets /data/*/retrieval_model_dict/score_threshold must be number",
];

const description: unknown = JSON.parse(readFileSync(new URL("knowledge-read.json", import.meta.url), "utf8"));
const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, keywords: ["answers", "schemas"] });
ajv.addSchema(Object.assign({}, description, { $id: "description" }));

/**
 * Lists how an answer deviates from the public API description of its operation, such as `/data/3/keywords must be
 * array`. The description has no required fields; here every member of the envelope is required.
 */
export function violations(operation: keyof typeof operations, answer: unknown): readonly string[] {
  const pointer = operations[operation].replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
  const validate = ajv.getSchema(`description#/answers/${pointer}`);
  if (!validate) throw new Error(`${operation} is not described`);
  const missing = envelopeOf(validate.schema).filter((name) => !isObject(answer) || !Object.hasOwn(answer, name));
  validate(answer);
  const wrong = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return [...missing.map((name) => `/${name} must be there`), ...wrong];
}

function envelopeOf(schema: unknown): readonly string[] {
  return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
