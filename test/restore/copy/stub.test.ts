import { describe, expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { customRule, outcomesOf, startCopyRun } from "./start-copy-of-run.js";

const drop = "DELETE /datasets/*/documents/*/segments/*";

describe("the stub", () => {
  test("names the origin of the document, and leaves nothing in a document that is indexed again", async () => {
    const place = await startCopyRun([{ contents: ["x"] }]);
    await place.copy();
    const text = JSON.parse(place.seen.find(({ path }) => path.endsWith("create-by-text"))?.body ?? "").text;
    expect(text).toBe("restored by kbdump from document old one.txt and indexing it again leaves only this text");
  });

  test.each(["text_model", "qa_model", "hierarchical_model"])(
    "is gone from a document of the form %s",
    async (form) => {
      const { rules } = customRule;
      const process_rule =
        form === "hierarchical_model"
          ? {
              mode: "hierarchical",
              rules: { ...rules, parent_mode: "paragraph", subchunk_segmentation: rules.segmentation },
            }
          : customRule;
      const place = await startCopyRun([{ doc_form: form, process_rule, contents: ["one", "two"] }]);
      expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
      expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one", "    2 two"]);
    },
  );

  test.runIf(inFull)("is removed even if the rule splits it into pieces", async () => {
    const segmentation = { separator: " ", max_tokens: 50, chunk_overlap: 0 };
    const process_rule = { mode: "custom", rules: { pre_processing_rules: [], segmentation } };
    const place = await startCopyRun([{ process_rule, contents: ["one"] }]);
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one"]);
    expect(place.sent().filter((line) => line === drop).length).toBeGreaterThan(10);
  });

  test("is not reported as removed if another user wrote to it first: nothing of theirs is deleted", async () => {
    const stop = new AbortController();
    const place = await startCopyRun([{ contents: ["one"] }], {
      faultOf: async ({ path }, write) => {
        if (write !== 3) return undefined;
        stop.abort(new Error("killed"));
        const segments = path.replace("/v1", "").replace(/\/[^/]*$/, "");
        await place.byOthers("POST", segments, { segments: [{ content: "by hand" }] });
        return "cut";
      },
    });
    const reason =
      /^one.txt: failed: someone else added chunk .* into it at the service: delete it there, then restore/;
    await expect(place.copy({ signal: stop.signal })).rejects.toThrow("killed");
    expect(outcomesOf(await place.copy())).toEqual([expect.stringMatching(reason)]);
    expect(await place.standing()).toContain("    2 by hand");
  });

  test.each([
    ["its answer was lost", "lost"],
    ["its answer was noted", undefined],
    ["it was never done", "cut"],
  ] as const)(
    "is not looked for any more once rows were added, even if %s: no restored chunk is deleted",
    async (_what, fault) => {
      const stop = new AbortController();
      const place = await startCopyRun([{ doc_form: "qa_model", contents: ["one", "two"] }], {
        faultOf: (_, write) => {
          if (write !== 4) return undefined;
          stop.abort(new Error("killed"));
          return fault;
        },
      });
      await place.copy({ signal: stop.signal }).catch(() => {});
      expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
      expect(place.sent().filter((line) => line === drop)).toHaveLength(1);
      expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one", "    2 two"]);
    },
  );
});
