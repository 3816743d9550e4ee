/** The files of the page, as `npm run build:ui` made them: read once, and compressed once. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { UiFile } from '../routes/route.ts'
import { PACKAGE_ROOT } from '../version.ts'

/** The same place in a checkout and in the installed package. */
const BUILT = fileURLToPath(new URL('dist/ui', PACKAGE_ROOT))

const TYPES: Readonly<Partial<Record<string, string>>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** By path, such as `assets/main-1a2b3c.js`; undefined where the page was not built. */
export function readBuiltFiles(folder: string = BUILT): ReadonlyMap<string, UiFile> | undefined {
  const names = globSync('**/*.*', { cwd: folder })
  if (!names.includes('index.html')) return undefined
  return new Map(names.map((name) => [name.replaceAll('\\', '/'), lazily(join(folder, name))]))
}

/** Reads the file when it is first asked for: most visits need a few of them only. */
function lazily(path: string): UiFile {
  let read: UiFile | undefined
  const file = (): UiFile => (read ??= readFile(path))
  return {
    get bytes() {
      return file().bytes
    },
    get gzip() {
      return file().gzip
    },
    get etag() {
      return file().etag
    },
    get type() {
      return file().type
    },
  }
}

function readFile(path: string): UiFile {
  const bytes = readFileSync(path)
  const type = TYPES[extname(path)] ?? 'application/octet-stream'
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, gzip: type === 'image/png' ? undefined : gzipSync(bytes), etag, type }
}
