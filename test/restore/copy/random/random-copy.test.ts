import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sentencesIn } from "../../../../src/demo/indexing.js";
import { startService } from "../../../../src/demo/start-service.js";
import type { CopyResult } from "../../../../src/restore/copy/copy-result.js";
import { copyRun } from "../../../../src/restore/copy/copy-run.js";
import { runJob } from "../../../../src/run/run-job.js";
import { rounds } from "../../../rounds.js";
import { jobFor } from "../../../run/job-for.js";
import { openFatedWire } from "../../../servers/fated-wire.js";
import { writableKnowledge } from "../../../servers/writable/writable-knowledge.js";
import { freezeRestore } from "../../frozen-restore.js";
import { expectLinkRefused } from "../../planted.js";
import { copying } from "../copying.js";
import { type CopiedDataset, type CopiedDocument, readCopies } from "./copies.js";
import { datasetId, storedDataset } from "./knowledge-base.js";
import { type DrawnChunk, type DrawnDocument, type Scenario, scenario } from "./scenario.js";

const key = "restore-key";

test("a knowledge base arrives whole, once and in order, whatever the wire does", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (drawn) => {
      const { copies, result } = await play(drawn);
      expect(result.differences).toEqual([]);
      expect(result.applied?.documents.map(({ outcome, reason }) => [outcome, reason])).toEqual(
        drawn.documents.map(() => ["restored", null]),
      );
      const facts = {
        description: "copied",
        technique: drawn.technique,
        tags: [...drawn.tags].sort(),
        fields: ["topic"],
      };
      expect(inOrder(copies.map(factsOf))).toEqual(inOrder(namesOf(drawn).map((name) => ({ name, ...facts }))));
      for (const copy of copies) expect(new Set(copy.documents.map(({ doc_form }) => doc_form)).size).toBe(1);
      const documents = copies.flatMap((copy) => copy.documents);
      expect(inOrder(documents.map(standing))).toEqual(
        inOrder(drawn.documents.map((document) => expected(document, drawn))),
      );
      expect(documents.flatMap(customizedOf)).toEqual(expect.arrayContaining(drawn.documents.flatMap(customizedIn)));
      expect(result.status).toBe("proved");
    }),
    { numRuns: rounds(1, 20, "KBDUMP_COPY_ROUNDS"), seed: Number(process.env.KBDUMP_COPY_SEED ?? 1) },
  );
}, 7_200_000);

/** Dumps the drawn knowledge base and copies it to an empty service, with interruptions. */
async function play(drawn: Scenario): Promise<{ copies: readonly CopiedDataset[]; result: CopyResult }> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  const clock = () => new Date();
  const source = await startService({ demo: writableKnowledge([storedDataset(drawn)], clock), key });
  let { unindexed } = drawn;
  const embeddingFails = (content: string) => content.includes("pump") && unindexed-- > 0;
  const options = {
    ...{ indexingSeconds: 0, indexingTime: 0, maxPerRequest: drawn.cap, embeddingFails },
  };
  const target = await startService({ demo: writableKnowledge([], clock, options), key });
  const wire = await openFatedWire(target.url, drawn.fates);
  try {
    const job = await jobFor(folder, {
      service: { base_url: source.url },
      datasets: [{ id: datasetId, documents: "all" }],
      details: true,
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
    });
    const run = await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
    const copy = () => copyRun(copying(run.folder, { url: wire.url, key }));
    const plant = async (at: number) => {
      if (drawn.planted && at === Math.min(drawn.planted.before, drawn.breaks.length))
        await expectLinkRefused(run.folder, drawn.planted, { wire, restore: copy });
    };
    for (const [at, number] of drawn.breaks.entries()) {
      await plant(at);
      const signal = wire.breakAt(number);
      await copyRun(copying(run.folder, { url: wire.url, key }, { signal })).catch(() => {});
    }
    const frozen =
      drawn.frozenAt === null ? undefined : await freezeRestore(run.folder, ["--to", wire.url], key, drawn.frozenAt);
    await plant(drawn.breaks.length);
    await copy(); // documents may fail here, because writes get lost
    wire.mend();
    const result = await copy();
    const woken = await frozen?.wake();
    if (woken) expect(woken).toMatchObject({ code: 1, stderr: expect.stringContaining("/lock was removed") });
    return { copies: await readCopies(target.url, key), result };
  } finally {
    await wire.close();
    await target.close();
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The expected names of the new datasets, the newest first. There is one for each form of documents; the most frequent form (on a
 * tie, the one found first) gets the plain name.
 */
function namesOf({ documents }: Scenario): readonly string[] {
  const forms = documents.map(({ form }) => form).reverse();
  const timesOf = (form: string) => forms.filter((each) => each === form).length;
  const [main, ...others] = [...new Set(forms)].sort((one, other) => timesOf(other) - timesOf(one));
  return main === undefined ? [] : ["Random", ...others.map((form) => `Random (${form})`)];
}

function factsOf({ name, description, indexing_technique: technique, tags, doc_metadata }: CopiedDataset) {
  return {
    ...{ name, description, technique },
    tags: tags.map((tag) => tag.name).sort(),
    fields: doc_metadata.map((field) => field.name),
  };
}

/** The expected copy of a document, in the form that `standing` returns. */
function expected(document: DrawnDocument, { technique }: Scenario) {
  const { name, form, state, value } = document;
  const childrenOf = ({ content, children }: DrawnChunk) => {
    if (form !== "hierarchical_model") return [];
    const made = technique === "high_quality" ? sentencesIn(content) : [];
    return (children?.map(({ text }) => text) ?? made).filter((text) => text.trim() !== "");
  };
  return {
    ...{ name, form, enabled: state !== "disabled", archived: state === "archived" },
    values: value === null ? [] : [["topic", value]],
    chunks: comingOf(document).map((chunk, at) => ({
      ...{ position: at + 1, content: chunk.content, answer: form === "qa_model" ? chunk.answer : null },
      ...{ keywords: chunk.keywords, isEnabled: chunk.isEnabled && state === "available", status: "completed" },
      children: childrenOf(chunk),
    })),
  };
}

/** The chunks that the service accepts: those without blank texts. */
function comingOf({ form, chunks }: DrawnDocument): readonly DrawnChunk[] {
  return chunks.filter(({ content, answer }) => content.trim() !== "" && (form !== "qa_model" || answer.trim() !== ""));
}

/** The manual child chunks, each with its parent. */
function customizedIn(document: DrawnDocument): readonly string[] {
  if (document.form !== "hierarchical_model") return [];
  return comingOf(document).flatMap(({ content, children }) =>
    (children ?? []).flatMap((each) =>
      each.isCustomized && each.text.trim() !== "" ? [`${content}|${each.text}`] : [],
    ),
  );
}

function customizedOf({ chunks }: CopiedDocument): readonly string[] {
  return chunks.flatMap(({ content, children }) =>
    children.flatMap((each) => (each.type === "customized" ? [`${content}|${each.content}`] : [])),
  );
}

/** The copy of a document as it is, in the form that `expected` returns. */
function standing({ name, doc_form: form, enabled, archived, doc_metadata, chunks }: CopiedDocument) {
  return {
    ...{ name, form, enabled, archived },
    values: (doc_metadata ?? []).map((each) => [each.name, each.value]),
    chunks: chunks.map(({ position, content, answer, keywords, enabled: isEnabled, status, children }) => ({
      ...{ position, content, answer: answer === "" ? null : answer, keywords, isEnabled, status },
      children: children.map((each) => each.content),
    })),
  };
}

/** Sorts documents, because the copy creates them concurrently, in any order. */
function inOrder<T extends object>(documents: readonly T[]): readonly T[] {
  return documents.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}
