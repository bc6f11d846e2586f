import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { testFolder } from "./job-for.js";
import { peakMemory } from "./peak-memory.js";

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
/** Large, because the test sends gigabytes of them. */
const blanks = Buffer.alloc(1 << 20, " ");
/** 640 kB that decompress to ten times the size limit of an answer. */
const bomb = gzipSync(Buffer.alloc(640_000_000, " "));

test.runIf(process.platform === "linux").each([
  ["plain", 8],
  ["compressed", 4],
] as const)(
  "answers that are too long are refused one by one, and their bytes are not kept: %s ones of %i documents",
  async (kind, count) => {
    let answers = 0;
    const server = createServer((request, response) => {
      response.on("error", () => {});
      response.setHeader("content-type", "application/json");
      if (request.url?.endsWith("/metadata/built-in")) return void response.end('{"fields": []}');
      answers++;
      if (kind === "compressed") return void response.setHeader("content-encoding", "gzip").end(bomb);
      response.write('{"data": [');
      const more = () => {
        while (!response.destroyed && response.write(blanks));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const documents = Array.from({ length: count }, (_, at) => id(at + 2));
    const child = startKbdump(
      [
        ...["run", "--base-url", `http://127.0.0.1:${port}/v1`, "--dataset", id(1)],
        ...["--document", documents.join(","), "--format", "jsonl", "--out", join(await testFolder(), "out")],
      ],
      { KNOWLEDGE_API_KEY: "dataset-key" },
    );
    const done = finished(child);
    const peak = await peakMemory(child.pid, done);
    const { code, stderr } = await done;
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("is longer than 64 MB") });
    expect(answers).toBeGreaterThan(5 * count); // each page is tried again in smaller pieces
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(300);
  },
  120_000,
);
