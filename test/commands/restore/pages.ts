import { renderParagraphs } from "../../../src/cli/outline.js";
import { type Page, pageFor } from "../../../src/cli/text.js";
import { planOutline, restoredOutline } from "../../../src/commands/restore/plan.js";
import type { RestoreResult } from "../../../src/restore/lost/restore-options.js";
import type { Invocation } from "../../../src/shell-text.js";

/** The page settings of a file or a pipe: nothing is cut or wrapped. */
export const wide = pageFor({}, {});

/** Output settings for a colour terminal of this width. */
export const terminalOf = (columns: number) => pageFor({ isTTY: true, columns }, {});

export const invocation = { program: "kbdump", args: ["restore", "nightly@20261119"] };

export const renderPlan = (result: RestoreResult, page: Page, next?: Invocation) =>
  renderParagraphs(planOutline(result, next), page);

export const renderRestored = (result: RestoreResult, page: Page, next: Invocation) =>
  renderParagraphs(restoredOutline(result, next), page);
