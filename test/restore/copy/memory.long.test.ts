import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { finished, startKbdump } from "../../cli/run-kbdump.js";
import { smallDatasets } from "../../demo/small-knowledge.js";
import { peakMemory } from "../../run/peak-memory.js";
import { dumped, serve } from "./compared-service.js";

const chunks = 20_000;
const characters = 8_000;
/** MB. The texts alone, kept in Node by writes and proof, would be more. */
const bound = 700;

const textOf = (at: number) => createHash("sha512").update(`${at}`).digest("hex").repeat(70).slice(0, characters);

test.runIf(process.platform === "linux")(
  `a document of ${chunks} chunks is copied and proved within ${bound} MB`,
  async () => {
    const rows = Array.from({ length: chunks }, (_, at) => ({ content: textOf(at), keywords: [], answer: null }));
    const folder = await dumped(smallDatasets(rows, { form: "text_model" }), { child_chunks: "auto" });
    const { url, key } = await serve([]);
    const command = ["copy", folder, "--to", url, "--apply", "--yes", "--json", "--quiet"];
    const child = startKbdump(command, { KNOWLEDGE_RESTORE_KEY: key });
    const done = finished(child);
    const peak = await peakMemory(child.pid, done);
    const { code, stdout, stderr } = await done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ status: "proved", counts: { chunks } });
    expect(peak).toBeGreaterThan(100);
    expect(peak).toBeLessThan(bound);
  },
  600_000,
);
