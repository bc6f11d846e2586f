import fc from "fast-check";
import { expect, test } from "vitest";
import type { KnowledgeApi } from "../../../src/client/knowledge-api.js";
import { readTail } from "../../../src/restore/copy/document-work.js";

const place = { datasetId: "set", documentId: "doc" };

/** Reads the tail of a document with `total` chunks; `isPaged`: whether the service supports page and limit. */
async function tailOf(total: number, from: number, isPaged: boolean) {
  const rows = Array.from({ length: total }, (_, at) => ({ id: `${at}`, content: `${at}` }));
  let requests = 0;
  const chunks: KnowledgeApi["chunks"] = async (_, page, limit = 100) => {
    requests++;
    const shown = isPaged ? rows.slice((page - 1) * limit, page * limit) : rows;
    return { rows: shown, total, docForm: null };
  };
  const tail = await readTail({ place, options: { api: { chunks } } }, from);
  return { ids: tail.map(({ id }) => Number(id)), requests };
}

test("the tail has every chunk after the first ones, and no page before it is requested", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(450), fc.nat(450), fc.boolean(), async (total, from, isPaged) => {
      const { ids, requests } = await tailOf(total, from, isPaged);
      expect(ids).toEqual(Array.from({ length: Math.max(0, total - from) }, (_, at) => from + at));
      expect(requests).toBeLessThanOrEqual(Math.floor(Math.max(0, total - from) / 100) + 2);
    }),
  );
});
