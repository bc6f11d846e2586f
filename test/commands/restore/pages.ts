import { pageFor } from "../../../src/cli/text.js";

/** The page settings of a file or a pipe: nothing is cut or wrapped. */
export const wide = pageFor({}, {});

/** Output settings for a colour terminal of this width. */
export const terminalOf = (columns: number) => pageFor({ isTTY: true, columns }, {});

export const invocation = { program: "kbdump", args: ["restore", "nightly@20261119"] };
