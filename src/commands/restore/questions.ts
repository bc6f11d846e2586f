import { countText } from "../../amounts.js";
import type { Environment } from "../../cli/command.js";
import type { Dialogue } from "../../cli/dialogue.js";
import { dialogueFrom } from "../../cli/options.js";
import { type Paragraphs, renderParagraphs } from "../../cli/outline.js";
import { pageFor } from "../../cli/text.js";
import type { Decision } from "../../compare/lost/decisions.js";
import type { DocumentPlan } from "../../compare/lost/restore-plan.js";
import type { Confirmed, RestoreResult } from "../../restore/lost/restore-options.js";
import { nameText } from "../../words.js";
import { needsDecision, planOutline } from "./plan.js";

/** Shows the plan, asks about each document, and asks whether to continue. With `yes`, it asks nothing. */
export function askToApply(planned: RestoreResult, yes: boolean, environment: Environment): Promise<Confirmed> {
  const ask = (dialogue: Dialogue) => askAbout(planned, dialogue);
  return confirmPlan(() => planOutline(planned), ask, yes, environment);
}

/** Prints a plan, and asks about it at the terminal. Does neither if it is `confirmed` already, or without a terminal. */
export async function confirmPlan(
  outline: () => Paragraphs,
  ask: (dialogue: Dialogue) => Promise<Confirmed>,
  confirmed: boolean,
  environment: Environment,
): Promise<Confirmed> {
  const { stderr, env } = environment;
  const dialogue = confirmed ? undefined : await dialogueFrom(environment, "Nothing was written.");
  if (dialogue === undefined) return { go: true };
  stderr.write(`${renderParagraphs(outline(), pageFor(stderr, env))}\n\n`);
  return ask(dialogue);
}

export async function askToSend(
  writes: number,
  baseUrl: string,
  things: string,
  { choose }: Pick<Dialogue, "choose">,
): Promise<boolean> {
  const answer = await choose({
    message: `Send ${countText(writes, "write request")} or more to ${new URL(baseUrl).host}?`,
    choices: [
      { value: "no", label: "No, write nothing" },
      { value: "yes", label: `Yes, restore ${things}` },
    ],
  });
  return answer === "yes";
}

/** By the id of the row. */
type Decisions = ReadonlyMap<string, Decision>;

/** Asks about each document, then whether to write the plan. Asks nothing if there is nothing to write. */
export async function askAbout({ plan, base_url }: RestoreResult, dialogue: Dialogue): Promise<Confirmed> {
  const all = new Map<string, Decision>();
  const documents = plan.documents.filter(({ restores, listed }) => restores.length > 0 || listed.some(needsDecision));
  let isChanged = false;
  for (const [at, document] of documents.entries()) {
    const planned = plannedDecisions(document);
    let decided = planned;
    if (documents.length > 1 || document.listed.some(needsDecision)) {
      // without brackets, so that the id fits on a line of 40 columns
      const name = [nameText(document.document_name ?? ""), document.document_id].filter(Boolean).join(" ");
      dialogue.say(`${at + 1} of ${documents.length}: ${name}`);
      decided = await askDocument(document, planned, dialogue);
    }
    isChanged ||= decided !== planned;
    for (const [id, decision] of decided) all.set(id, decision);
  }
  const count = [...all.values()].filter(({ restore }) => restore).length;
  const go = count === 0 || (await askToSend(count, base_url, countText(count, "row"), dialogue));
  return { go, decisions: isChanged ? all : undefined };
}

/** The decisions that lead to the current plan: yes for each row that it writes, with the text that the row replaces. */
function plannedDecisions({ restores }: DocumentPlan): Decisions {
  const decisions = new Map<string, Decision>();
  for (const { chunk_id, target, texts, disable, children } of restores) {
    const now = { now: target?.content ?? null, now_answer: target?.answer ?? null };
    if (texts || disable) decisions.set(chunk_id, { restore: true, ...now });
    for (const { child_id } of children) decisions.set(child_id, { restore: true });
  }
  return decisions;
}

/** Asks what to do with one document. Returns `planned` itself if the plan stays as it is. */
async function askDocument({ listed }: DocumentPlan, planned: Decisions, dialogue: Dialogue): Promise<Decisions> {
  const open = listed.filter(needsDecision);
  const need = open.length === 1 ? "needs" : "need";
  const all = `the ${countText(open.length, "row")} that ${need} a decision`;
  const answer = await dialogue.choose({
    message: "What do you want to restore?",
    choices: [
      ...(planned.size > 0 ? [{ value: "planned", label: `${countText(planned.size, "row")}, as planned` }] : []),
      ...(open.length > 0 ? [{ value: "all", label: planned.size > 0 ? `these, and ${all}` : all }] : []),
      { value: "none", label: "nothing of this document" },
    ],
  });
  if (answer === "planned") return planned;
  const decided = open.map(({ id, now, now_answer }) => [id, { restore: true, now, now_answer }] as const);
  if (answer === "all") return new Map([...planned, ...decided]);
  return new Map([...planned.keys(), ...open.map(({ id }) => id)].map((id) => [id, { restore: false }]));
}
