import { dirname } from "node:path";
import { expect, test } from "vitest";
import { lostText } from "../../src/amounts.js";
import { renderReport } from "../../src/report/render-report.js";
import { runHere } from "../cli/run-here.js";
import { testFolder } from "../run/job-for.js";
import { sample } from "./reports.js";

const wasHit = `SELECT arg_max(coalesce(new_id, id), run_id) FROM chunk_changes GROUP BY lineage HAVING max(hit_count) > 0`;
const counts = `SELECT count(*) AS chunks, (SELECT count(*) FROM child_chunks) AS children,
  count(*) FILTER (enabled) AS enabled, count(*) FILTER (NOT enabled) AS disabled,
  count(*) FILTER (enabled AND hit_count = 0 AND id NOT IN (${wasHit})) AS never,
  count(*) FILTER (status = 'error' OR error IS NOT NULL) AS errors, count(*) FILTER (status <> 'completed') AS open, median(word_count) AS median FROM chunks`;

test("manual SQL, the report and diff show the same numbers for the same dump", async () => {
  const { folder, against = "" } = await sample(await testFolder());
  const { html, summary } = await renderReport({ folder, against, verify: false });
  const page = html.replace(/<[^>]*>/g, "");
  const out = dirname(dirname(dirname(folder)));
  const asked = await runHere(["sql", "test", counts, "--out", out, "--format", "json"]);
  const [sql] = JSON.parse(asked.stdout);
  expect(page).toContain(`2 documents, ${sql.chunks} chunks and ${sql.children} child chunks.`);
  expect(page).toContain(`${sql.never} chunks of ${sql.enabled} enabled chunks (of ${sql.chunks} chunks;`);
  expect(page).toContain(`The dump has ${sql.errors} chunks with an error.`);
  expect(page).toContain(`${sql.open} chunks are not completed.`);
  expect(page).toMatch(new RegExp(`; ${sql.disabled} chunks? (is|are) disabled\\.`));
  expect(page).toContain(`Half of ${sql.chunks} chunks have at most ${Math.round(sql.median)} characters.`);

  const compared = await runHere(["diff", against, folder, "--only", "document", "--json", "--exit-zero"]);
  const { lost, manual_edits } = JSON.parse(compared.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(lost).toBeGreaterThan(0);
  expect(page).toContain(lostText(lost, manual_edits));
  expect(summary).toMatchObject({ lost, manual_edits, chunks: sql.chunks, child_chunks: sql.children });
}, 180_000);
