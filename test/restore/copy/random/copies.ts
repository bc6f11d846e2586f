import * as v from "valibot";

const text = v.nullish(v.string(), null);
const child = v.object({ content: v.string(), type: v.string() });
const chunk = v.object({
  id: v.string(),
  position: v.number(),
  content: v.string(),
  answer: text,
  keywords: v.nullish(v.array(v.string()), []),
  enabled: v.boolean(),
  status: v.string(),
});
const named = v.object({ id: v.string(), name: v.string() });
const details = v.object({
  ...named.entries,
  doc_form: v.string(),
  enabled: v.boolean(),
  archived: v.boolean(),
  doc_metadata: v.nullish(v.array(v.object({ id: v.string(), name: v.string(), value: v.unknown() })), []),
});
const dataset = v.object({
  ...named.entries,
  description: text,
  indexing_technique: text,
  tags: v.array(named),
  doc_metadata: v.array(named),
});

export interface CopiedChunk extends v.InferOutput<typeof chunk> {
  readonly children: readonly v.InferOutput<typeof child>[];
}

/** The document with its values for the dataset's own metadata fields. */
export interface CopiedDocument extends v.InferOutput<typeof details> {
  /** In the order in which the service lists them. */
  readonly chunks: readonly CopiedChunk[];
}

export interface CopiedDataset extends v.InferOutput<typeof dataset> {
  /** The oldest one first. */
  readonly documents: readonly CopiedDocument[];
}

/** Reads everything in a service without using the code under test. Every list must fit on one page. */
export async function readCopies(url: string, key: string): Promise<readonly CopiedDataset[]> {
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
    return response.json();
  };
  const list = async <Row>(path: string, row: v.GenericSchema<unknown, Row>): Promise<readonly Row[]> =>
    v.parse(
      v.object({ data: v.array(row), total: v.pipe(v.number(), v.maxValue(100)) }),
      await get(`${path}?limit=100`),
    ).data;
  const readChunk = async (path: string, own: v.InferOutput<typeof chunk>): Promise<CopiedChunk> => ({
    ...own,
    children: await list(`${path}/${own.id}/child_chunks`, child),
  });
  const readDocument = async (path: string): Promise<CopiedDocument> => {
    const chunks = await list(`${path}/segments`, chunk);
    const { doc_metadata, ...others } = v.parse(details, await get(`${path}?metadata=all`));
    return {
      ...{ ...others, doc_metadata: doc_metadata?.filter(({ id }) => id !== "built-in") ?? [] },
      chunks: await Promise.all(chunks.map((own) => readChunk(`${path}/segments`, own))),
    };
  };
  const readDataset = async ({ id }: v.InferOutput<typeof named>): Promise<CopiedDataset> => {
    const documents = await list(`/datasets/${id}/documents`, named);
    return {
      ...v.parse(dataset, await get(`/datasets/${id}`)),
      documents: await Promise.all(
        documents.toReversed().map((document) => readDocument(`/datasets/${id}/documents/${document.id}`)),
      ),
    };
  };
  return Promise.all((await list("/datasets", named)).map(readDataset));
}
