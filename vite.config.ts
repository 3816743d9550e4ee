/**
 * Bundles the published package into `dist/lib`: Node.js reads a hundred files at a start instead of six hundred. All
 * files are in one folder, because a module finds the file of its worker thread beside itself.
 */
import { defineConfig } from 'vite'

// eslint-disable-next-line import/no-default-export -- Vite expects it
export default defineConfig({
  build: {
    ssr: true,
    outDir: 'dist/lib',
    target: 'node24',
    rolldownOptions: {
      input: {
        main: 'src/cli/main.ts',
        index: 'src/index.ts',
        thread: 'src/http/threads/thread.ts',
        'backup-thread': 'src/service/backup/backup-thread.ts',
        'reader-worker': 'src/store/sqlite/read/reader-worker.ts',
      },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
})
