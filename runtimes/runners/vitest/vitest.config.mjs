import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.mjs'],
    testTimeout: 60_000,
    // Not made into a module of the bundler's: it is CommonJS.
    server: { deps: { external: [/cases\.cjs$/] } },
  },
});
