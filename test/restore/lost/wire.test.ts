import { expect, test } from "vitest";
import { countPlan } from "../../../src/compare/lost/restore-plan.js";
import { runHere } from "../../cli/run-here.js";
import { inFull } from "../../rounds.js";
import { jobFile } from "../../run/job-for.js";
import { datasetId, documentId, planOf, restoring, restoringChild, startTarget, uuid } from "./small-target.js";

test.runIf(inFull)(
  "the other commands send GET only; a restore sends the writes of its plan, in its order, and nothing else",
  async () => {
    const place = await startTarget([{ children: ["one"] }, {}]);
    const job = await jobFile(place.folder, {
      service: { base_url: place.url },
      datasets: [{ id: datasetId, documents: [documentId] }],
      output: { dir: `${place.folder}/out`, formats: ["jsonl"] },
    });
    const env = { KNOWLEDGE_API_KEY: place.key };
    for (const command of ["plan", "run", "list", "verify"]) {
      expect([command, (await runHere([command, job, "--quiet"], env)).code]).toEqual([command, 0]);
    }
    expect(place.seen.length).toBeGreaterThan(5);
    expect(place.writes()).toEqual([]);

    const restores = [
      restoring(1, {
        children: [restoringChild(1, "by hand", { id: uuid(1001), content: "one" }), restoringChild(2, "new")],
      }),
      restoring(3, { target: null }),
      restoring(2, { texts: null, disable: true }),
    ];
    await place.apply(restores);
    expect(place.writes().map(({ what }) => what)).toEqual([
      "POST …/segments/#101",
      "PATCH …/segments/#101/child_chunks/#1001",
      "POST …/segments/#101/child_chunks",
      "POST …/segments",
      "POST …/segments/#102",
    ]);
    expect(countPlan({ documents: [planOf(restores)] }).writes).toBe(5);
  },
);
