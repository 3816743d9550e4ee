/** Builds the page into `dist/ui`, which the service serves at `/ui`; `npm run dev:ui` serves it with hot reload. */
import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { guidePlugin } from './guide/guide-plugin.ts'

const SERVICE = process.env['SMALT_URL'] ?? 'http://127.0.0.1:8080'
const PROXIED = ['/data', '/metadata', '/events', '/metrics', '/openapi.json', '/version', '/ready', '/docs']

// eslint-disable-next-line import/no-default-export -- Vite expects it
export default defineConfig({
  base: '/ui/',
  plugins: [guidePlugin()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(import.meta.dirname, '../dist/ui'),
    emptyOutDir: true,
    target: 'es2023',
    // a data: URL would need an exception in the policy of the page
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: Object.fromEntries(PROXIED.map((path) => [path, { target: SERVICE }])) },
})
