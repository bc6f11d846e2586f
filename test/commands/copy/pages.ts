import { renderParagraphs } from "../../../src/cli/outline.js";
import type { Page } from "../../../src/cli/text.js";
import { copiedOutline, copyPlanOutline } from "../../../src/commands/copy.js";
import type { CopyResult } from "../../../src/restore/copy/copy-result.js";
import type { Invocation } from "../../../src/shell-text.js";

/** The arguments of a copy, as a user types them. */
export const invocation = {
  program: "kbdump",
  args: ["copy", "nightly@20261119", "--to", "https://new.example.com/v1"],
};

/** The command line of the copy, with more flags. */
export const commandWith = (more: string) => `  kbdump copy nightly@20261119 --to https://new.example.com/v1 ${more}`;

/** A hostile text: it would move the cursor, and is too wide for any terminal. */
export const nasty = "evil\x1b[2J\r\n\u202etext 从打开阀门开始，永远不要超过四点五巴 ".repeat(10);

export const renderCopyPlan = (result: CopyResult, page: Page, next?: Invocation) =>
  renderParagraphs(copyPlanOutline(result, next), page);

export const renderCopied = (result: CopyResult, page: Page, next: Invocation) =>
  renderParagraphs(copiedOutline(result, next), page);
