// Preloaded by Node: acts as if the DuckDB package for this machine is missing, as after `npm install --omit=optional`.
const Module = require("node:module");

const { _resolveFilename: resolveFilename } = Module;
Module._resolveFilename = (request, ...rest) => {
  if (!/^@duckdb\/node-bindings-/.test(request)) return resolveFilename(request, ...rest);
  throw Object.assign(new Error(`Cannot find module '${request}'\nRequire stack:\n- x`), { code: "MODULE_NOT_FOUND" });
};
