import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  resolve: {
    // The library's form for browsers decodes entities by `innerHTML`, which trusted types refuse.
    alias: {
      'decode-named-character-reference': fileURLToPath(
        import.meta.resolve('decode-named-character-reference'),
      ),
    },
  },
  build: {
    outDir: '../lib/web',
    emptyOutDir: true,
    target: 'es2022',
    // A file that is written into another one would need a looser policy than the gateway's.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // web/build.mjs holds the page to its size.
    chunkSizeWarningLimit: 1000,
    // Bundled libraries require their licence notices to be shipped with them.
    license: { fileName: 'licenses.md' },
    // 'use client' is for servers that draw pages.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
