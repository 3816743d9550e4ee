/** Finds the files of a dump or an export, and which collection each of them contains. */
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SourceError } from '../source-error.ts'
import { firstBytes } from './byte-reader.ts'
import { SINGLE_FILE_MAGIC } from './single-file.ts'

/** `single` is a whole dump in one file (`mongodump --archive`). */
export type DumpFile =
  | { readonly kind: 'single'; readonly path: string; readonly bytes: number }
  | {
      readonly kind: 'bson' | 'export'
      readonly path: string
      readonly bytes: number
      readonly collection: string
      readonly database?: string
    }

/** The path is a directory of mongodump, with or without the name of a database, a directory of exports, or one file. */
export async function findFiles(path: string): Promise<readonly DumpFile[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw new SourceError('invalid', `${path} cannot be read: ${(error as Error).message}`, error)
  })
  const files = found.isDirectory() ? await filesBelow(path) : [await singleFile(path, found.size)]
  if (files.length > 0) return files
  throw new SourceError('invalid', `${path} contains no .bson and no .json files`)
}

async function filesBelow(directory: string): Promise<readonly DumpFile[]> {
  const entries = await listed(directory)
  const own = await Promise.all(
    entries.filter((each) => each.isFile()).map((each) => fileIn(directory, each)),
  )
  const below = await Promise.all(
    entries
      .filter((each) => each.isDirectory())
      .map(async ({ name: database }) => {
        const inside = await listed(join(directory, database))
        const files = inside.filter((each) => each.isFile())
        return Promise.all(files.map((each) => fileIn(join(directory, database), each, database)))
      }),
  )
  return [...own, ...below.flat()].filter((each) => each !== undefined)
}

async function listed(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function fileIn(directory: string, { name }: Dirent, database?: string): Promise<DumpFile | undefined> {
  const kind = kindOf(name)
  if (!kind) return undefined
  const path = join(directory, name)
  const { size: bytes } = await stat(path)
  return { kind, path, bytes, collection: collectionOf(name), ...(database !== undefined && { database }) }
}

async function singleFile(path: string, bytes: number): Promise<DumpFile> {
  const first = await firstBytes(path, SINGLE_FILE_MAGIC.length)
  if (first.equals(SINGLE_FILE_MAGIC)) return { kind: 'single', path, bytes }
  const name = basename(path)
  const kind = kindOf(name)
  if (kind) return { kind, path, bytes, collection: collectionOf(name) }
  throw new SourceError(
    'invalid',
    `${path} is not an archive of mongodump, and its name does not end in .bson or .json (or one of them with .gz)`,
  )
}

/** Other files of a dump describe indexes, users and the dump itself. */
function kindOf(name: string): 'bson' | 'export' | undefined {
  const plain = name.replace(/\.gz$/, '')
  if (plain.startsWith('system.') || plain === 'oplog.bson' || plain === 'prelude.json') return undefined
  if (plain.endsWith('.bson')) return 'bson'
  return plain.endsWith('.json') && !plain.endsWith('.metadata.json') ? 'export' : undefined
}

/** mongodump escapes characters that file names cannot contain. */
function collectionOf(name: string): string {
  const plain = name.replace(/\.gz$/, '').replace(/\.(?:bson|json)$/, '')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
