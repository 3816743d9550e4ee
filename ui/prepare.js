/**
 * Builds the page after `npm ci`, where the packages for it are installed: `npm ci --omit=dev` leaves them out. JavaScript,
 * because npm runs this on any version of Node.js.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (existsSync(new URL('../node_modules/vite', import.meta.url))) {
  const { status } = spawnSync('npm', ['run', 'build:ui'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  process.exitCode = status ?? 1
} else process.stdout.write('the page is not built: it needs the development dependencies\n')
