import { countText } from "../../amounts.js";
import type { Environment } from "../../cli/command.js";
import type { Dialogue } from "../../cli/dialogue.js";
import { type Page, pageFor } from "../../cli/text.js";
import type { Decision } from "../../compare/lost/decisions.js";
import type { DocumentPlan, ListedLoss } from "../../compare/lost/restore-plan.js";
import type { CopyResult } from "../../restore/copy/copy-result.js";
import type { Confirmed, RestoreResult } from "../../restore/lost/restore-options.js";
import { nameText } from "../../words.js";
import { renderCopyPlan } from "../copy/plan.js";
import { renderPlan } from "./plan.js";
import { placeOf } from "./rows.js";

/** Shows the plan, asks about each document, and asks whether to continue. With `yes`, it asks nothing. */
export async function askToApply(planned: RestoreResult, yes: boolean, environment: Environment): Promise<Confirmed> {
  const dialogue = yes ? undefined : await dialogueBelow(environment, (page) => renderPlan(planned, page));
  return dialogue === undefined ? asPlanned : askAbout(planned, dialogue);
}

/** Shows the plan of a copy and asks whether to continue. With `yes`, or with nothing to write, it asks nothing. */
export async function askToCopy(planned: CopyResult, yes: boolean, environment: Environment): Promise<Confirmed> {
  const { base_url, counts } = planned;
  if (yes || counts.writes === 0) return asPlanned;
  const dialogue = await dialogueBelow(environment, (page) => renderCopyPlan(planned, page));
  const documents = countText(counts.documents, "document");
  return { go: dialogue === undefined || (await askToSend(counts.writes, base_url, documents, dialogue)) };
}

/** Prints a plan and opens the terminal for questions about it; undefined without a terminal. */
async function dialogueBelow(environment: Environment, render: (page: Page) => string): Promise<Dialogue | undefined> {
  const terminal = environment.openTerminal?.();
  if (terminal === undefined) return undefined;
  const { openDialogue } = await import("../../cli/dialogue.js"); // slow to load; --yes does not need it
  environment.stderr.write(`${render(pageFor(environment.stderr, environment.env))}\n\n`);
  return openDialogue(terminal, environment.signal, "Nothing was written.");
}

/** The last question: whether to send the writes. */
async function askToSend(writes: number, baseUrl: string, things: string, dialogue: Dialogue): Promise<boolean> {
  const answer = await dialogue.choose({
    message: `Send ${countText(writes, "write request")} or more to ${new URL(baseUrl).host}?`,
    choices: [
      { value: "no", label: "No, write nothing" },
      { value: "yes", label: `Yes, restore ${things}` },
    ],
  });
  return answer === "yes";
}

const asPlanned: Confirmed = { go: true };

/** Asks about each document, then whether to write the plan. Asks nothing if there is nothing to write. */
export async function askAbout({ plan, base_url }: RestoreResult, dialogue: Dialogue): Promise<Confirmed> {
  const decisions = new Map<string, Decision>();
  const documents = plan.documents.filter(({ restores, listed }) => restores.length > 0 || listed.some(isOpen));
  let isChanged = false;
  for (const [at, document] of documents.entries()) {
    const rows = plannedRows(document);
    for (const row of rows) decisions.set(row.id, row.decision);
    if (documents.length > 1 || document.listed.some(isOpen)) {
      // without brackets, so that the id fits on a line of 40 columns
      const name = [nameText(document.document_name ?? ""), document.document_id].filter(Boolean).join(" ");
      dialogue.say(`${at + 1} of ${documents.length}: ${name}`);
      isChanged = (await askDocument(document, rows, decisions, dialogue)) || isChanged;
    }
  }
  const count = [...decisions.values()].filter(({ restore }) => restore).length;
  if (count === 0) return { go: true, decisions: isChanged ? decisions : undefined };
  const go = await askToSend(count, base_url, countText(count, "row"), dialogue);
  return { go, decisions: isChanged ? decisions : undefined };
}

interface PlannedRow {
  readonly id: string;
  readonly decision: Decision;
}

/** The rows that the plan writes, with the texts that they replace. */
function plannedRows({ restores }: DocumentPlan): readonly PlannedRow[] {
  return restores.flatMap(({ chunk_id, target, texts, disable, children }) => [
    ...(texts || disable
      ? [
          {
            id: chunk_id,
            decision: { restore: true, now: target?.content ?? null, now_answer: target?.answer ?? null },
          },
        ]
      : []),
    ...children.map(({ child_id }) => ({ id: child_id, decision: { restore: true } })),
  ]);
}

/** Whether a row needs a decision and can be restored. */
function isOpen({ why, choice }: ListedLoss): boolean {
  return choice !== null && why === "needs your decision";
}

/** Asks what to do with one document. Returns whether the answer differs from the plan. */
async function askDocument(
  { listed }: DocumentPlan,
  rows: readonly PlannedRow[],
  decisions: Map<string, Decision>,
  dialogue: Dialogue,
): Promise<boolean> {
  const open = listed.filter(isOpen);
  const many = countText(open.length, "row");
  const answer = await dialogue.choose({
    message: "What do you want to restore?",
    choices: [
      ...(rows.length > 0 ? [{ value: "planned", label: `${countText(rows.length, "row")}, as planned` }] : []),
      ...(open.length > 0
        ? [
            {
              value: "each",
              label: `ask me about each of the ${many} that ${open.length === 1 ? "needs" : "need"} a decision`,
            },
            { value: "all", label: `${rows.length > 0 ? "these, and " : ""}the ${many}, too` },
          ]
        : []),
      { value: "none", label: "nothing of this document" },
    ],
  });
  const decide = ({ id, now, now_answer }: ListedLoss) => decisions.set(id, { restore: true, now, now_answer });
  if (answer === "none") for (const { id } of [...rows, ...open]) decisions.set(id, { restore: false });
  if (answer === "all") for (const loss of open) decide(loss);
  if (answer === "each")
    for (const loss of open) {
      if (await askRow(loss, dialogue)) decide(loss);
      else decisions.set(loss.id, { restore: false });
    }
  return answer !== "planned";
}

async function askRow(loss: ListedLoss, dialogue: Dialogue): Promise<boolean> {
  dialogue.say(`${placeOf(loss)}: ${loss.reason}`);
  for (const line of [loss.now, loss.now_answer]) if (line !== null) dialogue.say(`- ${line}`);
  for (const line of [loss.content, loss.answer]) if (line !== null) dialogue.say(`+ ${line}`);
  const answer = await dialogue.choose({
    message: `Restore this ${loss.level === "chunk" ? "chunk" : "child chunk"}?`,
    choices: [
      { value: "leave", label: "No, leave it alone" },
      { value: "restore", label: `Yes, ${loss.choice === "replace" ? "in place of the text there" : "at the end"}` },
    ],
  });
  return answer === "restore";
}
