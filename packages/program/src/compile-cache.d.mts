/** Keeps the compiled code of what is imported from now on, for the next start; see `compile-cache.mjs`. */
export function keepCompiledCode(): void;
