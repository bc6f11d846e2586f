/**
 * The real `node:fs`. An import would deadlock: it waits for vitest's mock of `node:fs`, and the mock waits for this file.
 */
export const fs = process.getBuiltinModule("node:fs");
