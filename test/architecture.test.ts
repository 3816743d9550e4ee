/**
 * The rules of ARCHITECTURE.md, checked against the source: which folder imports which, and one table of error codes. And
 * whether the reference lists what there is.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { CODES } from '../src/base/errors.ts'
import type { Shape } from '../src/base/json/shape.ts'
import { DEFAULT_LIMITS } from '../src/base/limits.ts'
import { SETTINGS } from '../src/cli/config/setting-shapes.ts'
import { variableFor } from '../src/cli/config/settings.ts'

const root = dirname(import.meta.dirname)
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

/** Folder → what it may import besides itself: folders and packages; for a subfolder, folders beside it. */
const MAY_IMPORT: ReadonlyMap<string, readonly string[]> = new Map(
  [...page.matchAll(/^\| `([a-z/]+)` \|.*\| ([^|]*) \|$/gm)].map(([, folder, names]) => [
    folder!,
    names!.trim() === '' ? [] : names!.trim().split(', '),
  ]),
)

/** With more files than this, a folder is divided. */
const MAX_FILES = 21

interface Import {
  readonly file: string
  /** As it is written. */
  readonly target: string
  /** Relative to `src`; undefined for packages. */
  readonly path: string | undefined
}

const files: readonly string[] = globSync('**/*.ts', { cwd: join(root, 'src') }).sort()
const folders: readonly string[] = [...new Set(files.map(folderOf))].filter((folder) => folder !== '.')
const importsByFile: ReadonlyMap<string, readonly Import[]> = new Map(
  files.map((file) => [file, importsOf(file)]),
)

function importsOf(file: string): readonly Import[] {
  const source = readFileSync(join(root, 'src', file), 'utf8')
  const imports = source.matchAll(/^(?:import|export)\s[^'"]*?from '([^']+)'|^import '([^']+)'/gm)
  return [...imports].map(([, from, bare]) => {
    const target = from ?? bare ?? ''
    const path = target.startsWith('.') ? relative('.', join(dirname(file), target)) : undefined
    return { file, target, path }
  })
}

function folderOf(file: string): string {
  return dirname(file)
}

test('architecture: ARCHITECTURE.md has one line for every folder of src', () => {
  const documented = [...MAY_IMPORT.keys()].sort()
  const parents = documented.filter((folder) => documented.some((each) => each.startsWith(`${folder}/`)))
  assert.deepEqual(documented, [...new Set([...folders, ...parents])].sort())
})

test('architecture: no folder has more files than a reader can take in', () => {
  const counts = Map.groupBy(files, folderOf)
  const large = [...counts].filter(([, own]) => own.length > MAX_FILES).map(([folder]) => folder)
  assert.deepEqual(large, [])
})

for (const folder of folders) {
  test(`architecture: ${folder} imports only what it may import`, () => {
    const own = files.filter((file) => folderOf(file) === folder)
    const refused = own.flatMap((file) => importsByFile.get(file)!.filter((each) => !isAllowed(each)))
    assert.deepEqual(
      refused.map(({ file, target }) => `${file} imports ${target}`),
      [],
    )
  })
}

function isAllowed({ file, target, path }: Import): boolean {
  if (target.startsWith('node:')) return true
  const from = folderOf(file).split('/')
  if (path === undefined) return mayImport(from[0]!, target.split('/')[0]!)
  if (!target.endsWith('.ts')) return false
  const to = folderOf(path).split('/')
  const shared = from.findIndex((step, i) => step !== to[i])
  // the same folder, one inside the other, or a file of a folder around it
  if (shared < 0 || shared >= to.length) return true
  if (shared === 0) return mayImport(from[0]!, to[0]!)
  return mayImport(from.slice(0, shared + 1).join('/'), to[shared]!)
}

function mayImport(folder: string, target: string): boolean {
  return MAY_IMPORT.get(folder)?.includes(target) ?? false
}

test('architecture: only the types of node:http are imported, because the module would load an HTTP client', () => {
  const loading = files.filter((file) => {
    const source = readFileSync(join(root, 'src', file), 'utf8')
    return /^import (?!type )[^'"]*? from 'node:https?'/m.test(source)
  })
  assert.deepEqual(loading, [])
})

test('architecture: no module imports itself through others, not even its types', () => {
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(file), `cycle: ${[...trail, file].join(' → ')}`)
    if (done.has(file)) return
    for (const { path } of importsByFile.get(file) ?? []) {
      if (path !== undefined) visit(path, [...trail, file])
    }
    done.add(file)
  }
  for (const file of files) visit(file, [])
})

/** Words that meant something to their authors only. Each was replaced by the word that engineers search for. */
const RETIRED =
  /^(told|tell|notice|lane|pace|gather|patience|turns|sight|shower|outline|slot|bell|upkeep|steering|past|sought|lately|hangup|settle|settling|receiving|archived?|unfinished|moments?|presence|drawing|asked|telling|patiently|settled)$/

test('architecture: retired words name no file and nothing that is exported', () => {
  const names = files.flatMap((file) => {
    const source = readFileSync(join(root, 'src', file), 'utf8')
    const exported = source.matchAll(
      /^export (?:async )?(?:function\*?|const|let|class|interface|type) ([A-Za-z_$]+)/gm,
    )
    return [
      ...file.replace('.ts', '').split('/'),
      ...[...exported].map(([, name]) => name!.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()),
    ]
  })
  const retired = names.filter((name) => name.split(/[-_]/).some((word) => RETIRED.test(word)))
  assert.deepEqual([...new Set(retired)].sort(), [])
})

test('architecture: "Where to change what" in CONTRIBUTING.md names files that exist', () => {
  const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const section = contributing.split(/^## /m).find((part) => part.startsWith('Where to change what'))!
  const paths = [...section.matchAll(/`((?:src|test|docs)\/[^`*]+)`/g)].map(([, path]) => path!)
  assert.ok(paths.length > 20)
  assert.deepEqual(
    paths.filter((path) => globSync(path, { cwd: root }).length === 0),
    [],
  )
})

test('architecture: every error code is documented, and every documented code is in the table', () => {
  const reference = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')
  const documented = [...reference.matchAll(/^\| `([^`]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ])
  assert.deepEqual(documented.sort(), Object.entries(CODES).sort())
})

test('architecture: every limit, metric and setting is documented', () => {
  const reference = readFileSync(join(root, 'docs/reference/configuration.md'), 'utf8')
  const limits = [...reference.matchAll(/^\| `(SMALT_LIMITS_\w+)` \| (\d+) \|/gm)].map(([, name, value]) => [
    name,
    Number(value),
  ])
  const actual = Object.entries(DEFAULT_LIMITS).map(([name, value]) => [variableFor(`limits.${name}`), value])
  assert.deepEqual(limits.sort(), actual.sort())

  const metrics = [...reference.matchAll(/^\| `(smalt_\w+)` \|/gm)].map(([, name]) => name)
  const observing = files.filter((file) => file.startsWith('http/observe/'))
  const named = observing.flatMap((file) =>
    [...readFileSync(join(root, 'src', file), 'utf8').matchAll(/'(smalt_\w+)'/g)].map(([, name]) => name),
  )
  assert.deepEqual(metrics.sort(), named.sort())

  const settings = Object.entries(SETTINGS['properties'] as Record<string, Shape>)
  const paths = settings.flatMap(([section, { properties }]) =>
    section === 'limits' || section === 'permissions' || !properties
      ? [section]
      : Object.keys(properties).map((name) => `${section}.${name}`),
  )
  const undocumented = paths.filter((path) => !reference.includes(`\`${path}`))
  assert.deepEqual(undocumented, [])
})

test('architecture: every error code of the table is used', () => {
  const sources = files
    .filter((file) => file !== 'base/errors.ts')
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  const unused = Object.keys(CODES).filter((code) => !sources.some((source) => source.includes(`'${code}'`)))
  assert.deepEqual(unused, [])
})

test('architecture: the files of worker threads are entries of the bundle', () => {
  const bundle = readFileSync(join(root, 'vite.config.ts'), 'utf8')
  const workers = files.flatMap((file) => {
    const source = readFileSync(join(root, 'src', file), 'utf8')
    const names = [...source.matchAll(/\bworkerFile\('([^']+)'/g)].map(([, name]) => name!)
    return names.map((name) => join('src', dirname(file), `${name}.ts`))
  })
  assert.ok(workers.length >= 3)
  assert.deepEqual(
    workers.filter((worker) => !bundle.includes(`'${worker}'`)),
    [],
  )
})
