import { describe, expect, it } from "vitest";
import { readRows, rowsFrom, started } from "../../demo/ask.js";
import { type ChunkSketch, segments, smallDatasets, uuid } from "../../demo/small-knowledge.js";
import { writableKnowledge } from "./writable-knowledge.js";

const file = `/files/${uuid(7)}/file-preview`;
const image = `/files/${uuid(7)}/image-preview`;
const signature = "timestamp=1750000000&nonce=N&sign=S";
const clock = () => new Date(1_750_000_000_900);

const startWith = (sketch: ChunkSketch) => started({ demo: writableKnowledge(smallDatasets([sketch]), clock) });

/** The JSON of a value, with the random parts of its signatures replaced by N and S. */
function withoutRandom(value: unknown): string {
  return String(value).replace(/nonce=[0-9a-f]{32}&sign=[\w-]{43}=/g, "nonce=N&sign=S");
}

describe("links to files", () => {
  it.each([
    [`[a](${file})`, `[a](${file}?${signature})`],
    [`![a](${image}) and ${file}`, `![a](${image}?${signature}) and ${file}?${signature}`],
    [`<${file}?as_attachment=true>`, `<${file}?${signature}as_attachment=true>`],
    [`"${image}&a=1"`, `"${image}?${signature}&a=1"`],
    [`${image}tail`, `${image}?${signature}tail`],
    [`${file}${image}`, `${file}?${signature}${image}?${signature}`],
    [`https://kb.example.com${image}`, `https://kb.example.com${image}?${signature}`],
    [`${file}?`, `${file}?${signature}`],
    ["/files/report.pdf", "/files/report.pdf"],
    ["no link", "no link"],
    ["", ""],
  ])("in sign_content: %s", async (content, signed) => {
    const service = await startWith({ content, sign_content: content });
    const [row] = await readRows(service, segments);
    expect(row?.content).toBe(content);
    expect(withoutRandom(row?.sign_content)).toBe(signed);
  });

  it("in attachments, whose other fields stay", async () => {
    const attachments = [{ id: uuid(7), source_url: file, size: 3 }];
    const service = await startWith({ attachments });
    const [row] = await readRows(service, segments);
    const [attachment] = rowsFrom(row?.attachments);
    expect(attachment).toMatchObject({ id: uuid(7), size: 3 });
    expect(withoutRandom(attachment?.source_url)).toBe(`${file}?${signature}`);
    expect(row).not.toHaveProperty("sign_content");
  });

  it("are signed again at every read", async () => {
    const sketch = { sign_content: `${file} ${image}`, attachments: [{ source_url: file }] };
    const service = await startWith(sketch);
    const nonces = new Set<string>();
    for (let read = 0; read < 3; read++) {
      const text = JSON.stringify(await readRows(service, segments));
      for (const [nonce] of text.matchAll(/nonce=[0-9a-f]+/g)) nonces.add(nonce);
    }
    expect(nonces.size).toBe(9);
  });
});
