import { expect, test } from "vitest";
import type { RunningService } from "../../../src/demo/start-service.js";
import { type Row, readAllRows, readRows, rowsFrom, started } from "../../demo/ask.js";
import { inFull } from "../../rounds.js";
import { writableSample } from "./writable-knowledge.js";

const start = Date.UTC(2026, 0, 1);

const startSample = (clock = () => new Date()) => started({ demo: writableSample(clock) });

/** The first matching chunk among the first 100 chunks of every document. */
async function findChunk(service: RunningService, test: (chunk: Row) => boolean): Promise<Row> {
  for (const dataset of await readRows(service, "/datasets"))
    for (const document of await readAllRows(service, `/datasets/${dataset.id}/documents`)) {
      const rows = await readRows(service, `/datasets/${dataset.id}/documents/${document.id}/segments?limit=100`);
      const found = rows.find(test);
      if (found) return found;
    }
  throw new Error("there is no such chunk");
}

async function twoAttachments(service: RunningService): Promise<readonly Row[]> {
  const chunk = await findChunk(service, ({ attachments }) => Array.isArray(attachments) && attachments.length === 2);
  return rowsFrom(chunk.attachments);
}

/** Opens a link without the key. */
const open = ({ url }: RunningService, link: unknown) => fetch(new URL(String(link), url));

test.runIf(inFull)(
  "the link of an attachment opens a file of its size without a key, the same at every read",
  async () => {
    const service = await startSample();
    const files = await twoAttachments(service);
    const texts = new Set<string>();
    for (const { source_url: link, size } of [...files, ...files]) {
      const answer = await open(service, link);
      expect([answer.status, answer.headers.get("content-length")]).toEqual([200, String(size)]);
      texts.add(await answer.text());
    }
    expect(texts.size).toBe(2);
  },
);

test("a link without its signature, with another one or with an old one is refused", async () => {
  let now = start;
  const service = await startSample(() => new Date(now));
  const [one, other] = (await twoAttachments(service)).map(({ source_url: link }) => String(link));
  const [path = "", signature = ""] = String(one).split("?");
  const queries = [
    "",
    String(other).split("?")[1],
    signature.replace(/sign=./, "sign=!"),
    signature.replace("=1", "=2"),
  ];
  for (const query of queries) expect((await open(service, `${path}?${query}`)).status, query).toBe(403);
  now += 300_000;
  expect((await open(service, one)).status).toBe(200);
  now += 1_000;
  const late = await open(service, one);
  expect([late.status, await late.json()]).toMatchObject([403, { code: "forbidden" }]);
});

test.runIf(inFull)("a link in a content has no file behind it", async () => {
  const service = await startSample();
  const link = /\/files\/[\w-]+\/image-preview\?[^)\s]+?=(?=\))/;
  const { sign_content: text } = await findChunk(service, (chunk) => link.test(String(chunk.sign_content)));
  expect((await open(service, link.exec(String(text))?.[0])).status).toBe(404);
});
