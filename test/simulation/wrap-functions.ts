/** Replaces every function of a module with `call`, which gets the name, the original and the arguments of each call. */
export function wrapFunctions(
  module: object,
  call: (name: string, original: () => unknown, args: readonly unknown[]) => unknown,
): object {
  const wrapped = Object.entries(module).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    return [name, (...args: unknown[]) => call(name, () => Reflect.apply(value, module, args), args)];
  });
  const replaced = Object.fromEntries(wrapped);
  return { ...replaced, default: replaced };
}
