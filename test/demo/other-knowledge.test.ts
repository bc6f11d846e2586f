import { expect, test } from "vitest";
import { UnknownPath } from "../../src/demo/knowledge.js";
import { inFull } from "../rounds.js";
import { ask, read, started } from "./ask.js";
import { datasetId, documentId, segments, smallKnowledge } from "./small-knowledge.js";

const link = "![x](/files/00000000-0000-4000-8000-000000000007/image-preview)";
const small = smallKnowledge([{ sign_content: link }]);

test("links of a knowledge base are returned unchanged", async () => {
  const { data } = await read(await started({ knowledge: small }), segments);
  expect(data).toMatchObject([{ sign_content: link }]);
});

test("ids are passed to the knowledge base as in the path, decoded", async () => {
  const asked: string[][] = [];
  const knowledge = {
    ...small,
    childChunks: (...ids: [string, string, string, object]) => {
      asked.push(ids.slice(0, 3).map(String));
      return { rows: [], total: 0 };
    },
  };
  const service = await started({ knowledge });
  const odd = "Ä/ö ? #%25.";
  await read(
    service,
    `/datasets/${datasetId.toUpperCase()}/documents/d/segments/${encodeURIComponent(odd)}/child_chunks`,
  );
  expect(asked).toEqual([[datasetId.toUpperCase(), "d", odd]]);
});

test.runIf(inFull)("upper-case ids are also found in the sample data", async () => {
  const service = await started();
  const { data } = await read(service, "/datasets");
  const [{ id } = { id: "" }] = data as { id: string }[];
  expect(await read(service, `/datasets/${id.toUpperCase()}/metadata/built-in`)).toHaveProperty("fields");
});

test("the knowledge base can bring its own JSON serializer", async () => {
  const service = await started({
    knowledge: small,
    jsonText: (answer) => JSON.stringify(answer).replace(/\b1\b/g, "1.0"),
  });
  expect((await ask(service, `${segments}?limit=5`)).text).toContain('"total":1.0');
});

test("a path that the knowledge does not have is an HTML 404 that says why", async () => {
  const knowledge = {
    ...small,
    metadataFields: () => {
      throw new UnknownPath("no such list here");
    },
  };
  const service = await started({ knowledge });
  const { status, headers, text } = await ask(service, `/datasets/${documentId}/metadata/built-in`);
  expect([status, headers.get("content-type")]).toEqual([404, "text/html; charset=UTF-8"]);
  expect(text).toContain("<title>404 no such list here</title>");
});
