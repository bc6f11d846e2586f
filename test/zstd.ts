import * as zlib from "node:zlib";
import type { Compression } from "../src/files/compression.js";

/** Whether this Node has Zstandard, which came with 22.15. Tests that need it are skipped without it; say-what-was-skipped.ts says so. */
export const hasZstd = "createZstdCompress" in zlib;

/** The compressions that this Node has. */
export const compressions: readonly Exclude<Compression, "none">[] = hasZstd ? ["gzip", "zstd"] : ["gzip"];
