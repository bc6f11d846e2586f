import { expect, test } from "vitest";
import type { LostCard, LostFacts } from "../../../src/report/lost-facts.js";
import { html, renderSection } from "../../../src/report/page/html.js";
import { lostSection } from "../../../src/report/page/parts/lost.js";
import { hostileFacts } from "./sample-facts.js";
import { sampleLost } from "./sample-lost.js";

const sample = sampleLost();
const pageOf = (more: Partial<LostFacts> = {}) => renderSection(lostSection({ ...sample, ...more })).toString();
const cardOf = (more: Partial<LostCard>): LostCard => ({ ...(sample.cards[0] as LostCard), ...more });
const nothing = { lost: 0, lost_by_hand: 0, cards: [], left_out: 0, documents: { rows: [], total: 0, query: null } };
const textOf = (page: string) => page.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
const countOf = (page: string, piece: string | RegExp) => page.split(piece).length - 1;

test("the lead says how many rows were lost, how many were made by hand, and how many can come back", () => {
  const leadOf = (more: Partial<LostFacts>) =>
    html`${lostSection({ ...sample, ...more }).lead}`.toString().replace("&#39;", "'");
  const none = { command: null, apply: null, rows: 0, reason: "No lost row has evidence that a person made it." };
  expect(leadOf({})).toBe(
    "The re-index of 6 documents took 7 rows (chunks and child chunks): 5 of them were made, edited or disabled by hand. kbdump can bring back 4 rows.",
  );
  expect(leadOf({ reindexed: 1, lost: 1, lost_by_hand: 1, restore: none })).toBe(
    "The re-index of 1 document took 1 row (chunks and child chunks): made, edited or disabled by hand.",
  );
  expect(leadOf({ lost: 3, lost_by_hand: 3, restore: none })).toContain(
    "made, edited or disabled by hand, all of them.",
  );
  expect(leadOf({ lost_by_hand: 1 })).toContain("7 rows (chunks and child chunks): 1 of them was made,");
  expect(leadOf({ lost_by_hand: 0, restore: none })).toContain("no row shows a sign of a person's work.");
  expect(leadOf({ ...nothing, reindexed: 0, restore: none })).toBe(
    "No document that could be compared was re-indexed since the older run: no re-index took a row.",
  );
  expect(leadOf({ ...nothing, reindexed: 1, restore: none })).toBe("1 document was re-indexed, and no row was lost.");
  expect(leadOf({ ...nothing, restore: { ...sample.restore, rows: 1 } })).toBe(
    "6 documents were re-indexed, and no row was lost. The keywords of 1 row were lost: kbdump can bring them back.",
  );
});

test("the section says what could not be compared, also without content", () => {
  const page = textOf(pageOf({ ...nothing, not_compared: 1, gone: 2, warnings: [] }));
  expect(page).toContain("1 document could not be compared: what was lost there is not known.");
  expect(page).toContain("2 documents of the older run are not in this one at all.");
  expect(page).toContain("1 warning, not shown in a report without content.");
});

test("every card shows the words, the hand, the time in UTC, and the way back", () => {
  const page = pageOf();
  expect(countOf(page, "<article")).toBe(6);
  const [edited, arabic, question, disabled, child, unsigned] = page.split("<article").slice(1).map(textOf);
  expect(edited).toContain("Returns and refunds.md, chunk 17");
  expect(edited).toMatch(/edit undone edited by hand by \S+ on 2026-11-08 02:07 UTC/);
  expect(edited).toContain("within lost: 30now: 14 days of delivery.");
  expect(edited).toContain("(214 characters left out)");
  expect(edited).toContain("The commands above bring it back. Bring back this document alone");
  expect(arabic).toMatch(/gone added by hand by \S+ on .* lost: لا تُقبل/);
  expect(question).toContain("Answer: 请先检查电源线，lost: 然后按住复位键十秒now: 然后联系客服。");
  expect(question).toMatch(/Left to you: The chunk stands .* Bring it back neverthelesskbdump restore/);
  expect(disabled).toMatch(/enabled again disabled by hand/);
  expect(child).toMatch(/child chunk 2 gone made or edited by hand on/);
  expect(unsigned).toMatch(/no sign of a person&#39;s work .*Left to you: Nothing shows/);
  expect(unsigned?.split("more row")[0]).not.toContain("kbdump");
  expect(page).toContain("<code>kbdump restore nightly@20261113T020000456Z --against nightly</code>");
  expect(page).toContain("<code>kbdump restore nightly@20261113T020000456Z --apply</code>");
  expect(textOf(pageOf({ cards: [cardOf({})] }))).not.toContain("this document alone");
  expect(textOf(page)).toContain("1 more row is not shown. This command prints all of them:kbdump diff nightly@");
  expect(textOf(page)).toContain("One document was not read whole");
  expect(page).toContain("Documents that changed since the older run</caption>");
  expect(pageOf({ cards: [cardOf({ edit: "customized" })] })).toContain("with child chunks made or edited by hand");
});

test("the direction of a text is its own, and the words for those who hear the page do not decide it", () => {
  const page = pageOf();
  expect(page).toContain('<div class="words" dir="auto"><del><span class="hidden" dir="ltr">lost: </span>لا');
  expect(page).toContain("<h4><bdi>سياسة استرداد المبالغ.pdf</bdi>, chunk 143</h4>");
});

test("without a command, the section says why; where nothing was lost, it says no more than that", () => {
  const restore = {
    command: null,
    apply: null,
    rows: 0,
    reason: "The older run cannot be used for a restore: its run read a part.",
  };
  expect(textOf(pageOf({ restore }))).toContain("cannot be used for a restore: its run read a part.");
  const page = pageOf({
    ...nothing,
    warnings: [],
    warning_count: 0,
    restore: { command: null, apply: null, rows: 0, reason: "Nothing was lost." },
  });
  expect(page).not.toMatch(/<article|<table|<pre|Nothing was lost/);
});

test("hostile texts change nothing but words", () => {
  const page = renderSection(lostSection(hostileFacts().lost ?? sample)).toString();
  const tags = (text: string) => [...text.matchAll(/<(\/?[a-z0-9]+)/g)].map(([, tag]) => tag);
  const known = new Set([...tags(pageOf()), "bdi", "/bdi"]);
  expect(tags(page).filter((tag) => !known.has(tag))).toEqual([]);
  expect(countOf(page, "<article")).toBe(6);
  expect(page.replace(/"[^"]*"/g, "").match(/<[^>]* (on\w+|style)=/)).toBeNull();
  expect(page.match(/[\u202a-\u202e\u2066-\u2069\0]/)).toBeNull();
  expect(Buffer.byteLength(page)).toBeLessThan(450_000);
});

test("cards that do not fit are left out, with the command that prints all", () => {
  const long = [{ kind: "removed" as const, text: "字".repeat(4000), cut: 12_345 }];
  const cards = Array.from({ length: 100 }, () => cardOf({ content: long }));
  const page = pageOf({ cards, lost: 250, left_out: 150 });
  expect(Buffer.byteLength(page)).toBeLessThan(450_000);
  const shown = countOf(page, "<article");
  expect(shown).toBeGreaterThan(20);
  expect(textOf(page)).toContain(`${250 - shown} more rows are not shown. This command prints all of them:`);
  expect(page).toContain('<div class="words" dir="auto" tabindex="0" role="region"');
});
