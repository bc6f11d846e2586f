/**
 * `node:fs` itself, even while vitest is at making its replacement of what is here: an import of it would wait for that
 * replacement, and so for this file, for ever.
 */
export const fs = process.getBuiltinModule("node:fs");
